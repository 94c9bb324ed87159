/*
 * model/scene: a random configuration, and what happens under it.
 *
 * A scene is data: it can be run, made smaller (model/shrink) and written down as
 * a scenario script (model/story). It is made from a seed alone.
 */
#ifndef MODEL_SCENE_H
#define MODEL_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "reference.h"
#include "values.h"

#define FIELDS_MAX REF_FIELDS_MAX
#define SELECT_MAX 6
#define NONE       REF_NOBODY

struct scene_field {
    char name[8];
    const struct alphabet *alphabet; /* NULL: the record's id, or its time */
    const char *time_type;           /* of its time; NULL: it is none */
    int values;                      /* how many of the alphabet occur */
    int first;                       /* from which on */
};

struct scene_side {
    struct scene_field fields[FIELDS_MAX];
    int field_count;
    int key[REF_KEYS_MAX];          /* fields that keys are made of */
    int truth, other, number, time; /* fields: two booleans, a bigint; time: or NONE */
    char delimiter;
    const char *null_text;
    int max_line;
};

enum bad { BAD_NOT, BAD_FEWER, BAD_MORE, BAD_TYPE, BAD_QUOTE, BAD_NUL, BAD_TELNET };
#define BADS 7

/* A line of input. */
struct scene_row {
    int values[FIELDS_MAX]; /* of the fields' alphabets; NONE: NULL */
    int id;                 /* what its id field says */
    int pad;                /* bytes that the id is made longer by */
    bool timeless;          /* its time field is NULL; else: */
    int64_t when;           /* ms */
    int micros;             /* beyond that, where the type has them */
    unsigned quoted;        /* a bit a field: in quotes though it need not be */
    bool cr;
    enum bad bad;
};

enum event_kind {
    EVENT_ROW,
    EVENT_TICK,
    EVENT_PULL,
    EVENT_SETTLE,
    EVENT_END,
    EVENT_OPEN,
    EVENT_CLOSE,
    EVENT_HOLD,
    EVENT_RELEASE,
    EVENT_TABLE, /* lookup: the right rows since the last one are the new table */
};

struct event {
    enum event_kind kind;
    int side;     /* all but EVENT_TICK, EVENT_PULL, EVENT_SETTLE */
    int feed;     /* EVENT_ROW, EVENT_OPEN, EVENT_CLOSE */
    int64_t time; /* the clock's: EVENT_ROW, EVENT_TICK */
    bool glued;   /* EVENT_ROW: read together with the row that comes next */
    struct scene_row row;
    size_t max;   /* EVENT_PULL */
    int64_t fuel; /* EVENT_PULL */
};

struct scene {
    uint64_t seed;
    struct ref_plan plan;
    struct scene_side side[2];
    char delimiter;         /* of the output */
    const char *null_text;  /* of the output */
    int select[SELECT_MAX]; /* expressions */
    int select_count;       /* 0: all fields */
    int64_t state_bytes;    /* 0: the default */
    size_t cut;             /* bytes a read; 0: whole lines */
    bool by_hand;           /* nothing is pulled but by EVENT_PULL and EVENT_SETTLE */
    unsigned aside;         /* windows are fired aside, news settled after so many pulls; or 0 */
    bool replay;            /* files on both sides, in event time */
    uint64_t hash_seed;
    struct event *events; /* owned */
    size_t event_count;
};

/* `size`: 1, or how many times larger than usual. */
struct scene scene_random(uint64_t seed, int size);
struct scene scene_copy(const struct scene *s);
void scene_done(struct scene *s);

/* The row goes into the engine together with the one after it. */
bool scene_is_glued(const struct scene *s, size_t id);

/* `SECTION.KEY = VALUE` for each setting, by `each`. */
void scene_settings(const struct scene *s,
                    void (*each)(const char *section, const char *key, const char *value, void *to),
                    void *to);
void scene_ini(const struct scene *s, struct buf *to);

/* --- the record of event `id`, in the words of all who deal with it --- */

void scene_line(const struct scene *s, size_t id, struct buf *to); /* without its LF */
void scene_record(const struct scene *s, size_t id, struct ref_record *ret);

/* A result as the output must write it, without its LF. False: `select` fails. */
bool scene_row_text(const struct scene *s, const struct ref_result *r, struct buf *to);
/* All fields of both records, as the machine tells them. */
void scene_records_text(const struct scene *s, const struct ref_result *r, struct buf *to);

#endif
