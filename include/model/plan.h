/*
 * model/plan: what a configuration means to the engine.
 *
 * Made once by config, then read by everyone and changed by nobody. All that it
 * points at belongs to it.
 */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/expr.h"
#include "lang/schema.h"
#include "lang/side.h"
#include "model/record.h"

enum join_type { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL, JOIN_SEMI, JOIN_ANTI };
#define JOIN_TYPES 6

const char *join_type_word(enum join_type t); /* "inner", ... */

enum match_kind {
    MATCH_TUMBLING,
    MATCH_SLIDING,
    MATCH_SESSION,
    MATCH_INTERVAL,
    MATCH_LATEST,
    MATCH_LOOKUP,
    MATCH_BATCH,
};
#define MATCH_KINDS 7

/* What a kind is like, for all who would have to know the kinds otherwise. (What it does is
 * its operator's: join/operator.) */
struct match_traits {
    const char *word; /* "tumbling", ... */
    bool by_time;     /* times decide who meets: there are lags, late records and event time */
    bool replays;     /* ... and of two files, which side's next record is read first */
    bool aligned;     /* windows of one size, whose places are known beforehand */
    bool has_windows; /* results tell of the window that they lie in */
    bool detaches;    /* windows may be fired elsewhere (join/firing) if they are over then */
    bool right_asked; /* the right side is a table of what holds now, and is never padded ... */
    bool right_file;  /* ... and is read from a file, whole, again and again */
    bool bounded;     /* both sides are read to their ends, the right one before the left one */
};
extern const struct match_traits match_traits[MATCH_KINDS];

enum time_kind { TIME_PROCESSING, TIME_EVENT };

#define PLAN_OFF (-1)

#define PLAN_FOREVER INT64_MAX

/* What a key with several rows means in a lookup table. */
enum duplicates { DUPLICATES_KEEP, DUPLICATES_LAST, DUPLICATES_ERROR };

struct plan_side {
    struct schema schema;
    struct record_form form;
    struct expr_list key; /* as many items as the other side; none: one key for all */
    bool *key_as_double;  /* one an item, owned */
    struct expr *where;   /* owned; NULL: all records */

    /* event time */
    struct expr *timestamp; /* owned; of a timestamp type */
    int64_t delay_ms;
    int64_t idle_ms;      /* PLAN_OFF: never idle */
    int64_t max_ahead_ms; /* PLAN_OFF: any time is believed */
};

struct plan {
    enum join_type type;
    enum match_kind match;
    enum time_kind time;
    int64_t size_ms;            /* tumbling, sliding: of windows; > 0 */
    int64_t slide_ms;           /* from one window's start to the next; > 0; tumbling: size_ms */
    int64_t offset_ms;          /* of windows; may be negative */
    int64_t gap_ms;             /* session; > 0 */
    int64_t lower_ms, upper_ms; /* interval; lower <= upper */
    int64_t grace_ms;           /* event time; >= 0 */
    int64_t wait_ms;            /* latest, processing time; >= 0, PLAN_FOREVER */
    int64_t ttl_ms;             /* latest, processing time; PLAN_OFF */
    enum duplicates duplicates; /* lookup */
    struct expr *on;            /* owned; NULL: true */
    bool keep_times;            /* select asks for the records' times */
    bool replay;                /* files on both sides, in event time: semantics.md section 5 */
    struct plan_side side[SIDES];
    uint64_t state_bytes_max;
    uint64_t hash_seed;
};

struct plan *plan_new(void);
void plan_free(struct plan *p);

static inline const struct match_traits *plan_traits(const struct plan *p)
{
    return &match_traits[p->match];
}

/* Rows of pairs, or one row for a left record that has a match (semi), or none (anti)? */
static inline bool plan_is_one_sided(const struct plan *p)
{
    return p->type == JOIN_SEMI || p->type == JOIN_ANTI;
}

/* May a record lie in more than one aligned window? */
static inline bool plan_windows_overlap(const struct plan *p)
{
    return p->slide_ms < p->size_ms;
}

/* Outer joins pad their unmatched rows with NULLs; the rows of anti count too. */
bool plan_pads(const struct plan *p, enum side s);

/* Can another thread fire its windows (join/firing)? Only those that are over when they fire. */
bool plan_detaches(const struct plan *p);

/* The last window that starts at or before `t`: its start. It holds `t` unless
 * windows leave gaps. semantics.md section 1. */
int64_t plan_window_start(const struct plan *p, int64_t t);

#endif
