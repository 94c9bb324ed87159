/*
 * model/reference: what a join is, in nested loops.
 *
 * Written from the rules (semantics.md sections 1 to 5b and 7, interface.md sections
 * 3 and 5) and from nothing else: it includes no header of joind and shares no code
 * with it. It is as slow and as plain as it can be, so that it can be believed.
 *
 * Records come as the values of their fields; expressions are trees over them.
 * Results are told by the numbers that the caller gave the records. Times are
 * milliseconds.
 */
#ifndef MODEL_REFERENCE_H
#define MODEL_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#define REF_KEYS_MAX   2
#define REF_FIELDS_MAX 8
#define REF_EXPRS_MAX  96
#define REF_FEEDS_MAX  4
#define REF_NOBODY     (-1)
#define REF_OFF        (-1)

enum ref_type { REF_INNER, REF_LEFT, REF_RIGHT, REF_FULL, REF_SEMI, REF_ANTI };
enum ref_side { REF_SIDE_LEFT, REF_SIDE_RIGHT };
enum ref_match {
    REF_TUMBLING,
    REF_SLIDING,
    REF_SESSION, /* up to here: windows */
    REF_INTERVAL,
    REF_LATEST,
    REF_BATCH,
    REF_LOOKUP,
};
enum ref_duplicates { REF_DUPLICATES_KEEP, REF_DUPLICATES_LAST, REF_DUPLICATES_ERROR };

/* --- expressions --- */

enum ref_value_kind { REF_NULL, REF_TEXT, REF_WHOLE, REF_REAL, REF_TRUTH, REF_INSTANT };

struct ref_value {
    enum ref_value_kind kind;
    const char *text; /* not owned; outlives the reference */
    long long whole;  /* also a truth: 0 or 1, and an instant: milliseconds */
    double real;
};

enum ref_op {
    REF_FIELD,
    REF_CONSTANT,
    REF_ADD,
    REF_SUBTRACT,
    REF_MULTIPLY,
    REF_DIVIDE,
    REF_REST,
    REF_EQUAL,
    REF_UNEQUAL,
    REF_LESS,
    REF_LESS_EQUAL,
    REF_AND,
    REF_OR,
    REF_NOT,
    REF_IS_NULL,
    REF_COALESCE,
    REF_UPPER,
    REF_JOINED, /* a || b */
    REF_LEFT_TIME,
    REF_RIGHT_TIME,
    REF_WINDOW_START,
    REF_WINDOW_END,
};

struct ref_expr {
    enum ref_op op;
    int side, field;           /* REF_FIELD */
    struct ref_value constant; /* REF_CONSTANT */
    int a, b;                  /* operands: numbers of expressions */
};

/* --- what goes in --- */

struct ref_plan {
    enum ref_type type;
    enum ref_match match;
    bool event_time;
    long long size, slide, offset; /* tumbling: slide is size */
    long long gap;
    long long lower, upper;
    long long grace;
    long long wait, ttl; /* REF_OFF: for ever */
    enum ref_duplicates duplicates;
    long long delay[2], idle[2], max_ahead[2]; /* the last two: or REF_OFF */
    int keys;                                  /* parts of the key; 0: all records have the same */
    int key[2][REF_KEYS_MAX];                  /* expressions, as are `where` and `on` */
    bool key_is_real[REF_KEYS_MAX];            /* one of the two sides has doubles there */
    int where[2], on;                          /* or REF_NOBODY */
    struct ref_expr exprs[REF_EXPRS_MAX];
    int expr_count;
    int sabotage; /* the rule that is broken on purpose: enum ref_sabotage */
};

struct ref_record {
    enum ref_side side;
    int id;     /* the caller's */
    int feed;   /* the connection: 0 <= feed < REF_FEEDS_MAX */
    bool bad;   /* it cannot be read */
    bool timed; /* event time: its timestamp is not NULL, and says */
    long long time;
    struct ref_value fields[REF_FIELDS_MAX];
};

/* --- what comes out --- */

enum ref_kind {
    REF_PAIR,
    REF_PADDED_LEFT,
    REF_PADDED_RIGHT,
    REF_SEMI_ROW,
    REF_ANTI_ROW,
    REF_FAILED, /* no row: `on` failed for the pair */
};

struct ref_result {
    enum ref_kind kind;
    bool windowed; /* there is a window: */
    long long start, end;
    int section; /* sections come one after the other; */
    int group;   /* the groups of one in any order. Neither goes back */
    int left, right;
    long long left_time, right_time;
};

struct ref_books {
    long received, rejected, filtered, late, matched, unmatched, held;
    long late_windows;
};

/* --- rules that can be broken, to see that it is noticed --- */

enum ref_sabotage {
    REF_FAITHFUL,
    REF_NO_GRACE,
    REF_WINDOW_LATE_TOO_SOON,
    REF_WINDOW_FIRES_TOO_LATE,
    REF_PADS_TWICE,
    REF_NEVER_IDLE,
    REF_GAP_EXCLUSIVE,
    REF_SESSION_FIRES_TOO_SOON,
    REF_UPPER_EXCLUSIVE,
    REF_LOWER_EXCLUSIVE,
    REF_INTERVAL_FORGETS_TOO_SOON,
    REF_INTERVAL_PADS_RIGHT_FIRST,
    REF_LATE_RECORDS_MATCH_NOTHING,
    REF_NO_DELAY,
    REF_NO_OFFSET,
    REF_UNKNOWN_IS_TRUE,
    REF_FILTERED_MOVES_NO_TIME,
    REF_CLOSED_COUNTS,
    REF_FASTEST_COUNTS,
    REF_NO_DRIFT,
    REF_ANY_TIME_IS_BELIEVED,
    REF_NULLS_ARE_EQUAL,
    REF_SEMI_ONCE_A_RECORD,
    REF_FAILED_UNTOLD,
    REF_HOLDS_ARE_IDLE,
    REF_GAP_RECORDS_ARE_LATE,
    REF_RIGHT_MAJOR,
    REF_ALL_ARE_DECIDED, /* semi: every right record that would do is matched */
    REF_FIRST_VALUE_STAYS,
    REF_WAITS_TOO_LONG,
    REF_TTL_TOO_LONG,
    REF_MATCHES_RENEW,
    REF_NULL_KEYS_WAIT,
    REF_ON_ENDS_NO_WAIT,
    REF_LAST_HELD_FIRST,
    REF_AS_OF_EXCLUSIVE,
    REF_AS_OF_TOO_SOON,
    REF_FIRST_OF_A_TIME_IS_NEWEST,
    REF_OLDER_VERSIONS_ARE_TRIED,
    REF_VERSIONS_STAY,
    REF_LATE_LEFTS_ARE_TAKEN,
    REF_OLD_VERSIONS_ARE_TAKEN,
    REF_LATE_VERSIONS_ARE_NOT_TAKEN,
    REF_ONE_ROW_OF_A_KEY,
    REF_LAST_ROW_FIRST,
    REF_ROWS_ARE_NOT_PADDED,
    REF_OLD_TABLES_STAY,
    REF_WRONG_TABLES_ARE_TAKEN,
    REF_FIRST_ROW_WINS,
    REF_SABOTAGES,
};

/* --- the reference --- */

struct reference;

struct reference *ref_new(const struct ref_plan *plan);
void ref_free(struct reference *r);

/* A connection of this side is open from the start, or from now on. */
void ref_open(struct reference *r, enum ref_side side, int feed);
void ref_close(struct reference *r, enum ref_side side, int feed);

/* The wall clock; in processing time an earlier time than the one reached is that one. */
void ref_wall(struct reference *r, long long now);
/* The monotonic clock, in event time. */
void ref_mono(struct reference *r, long long now);
/* The next instant of that clock at which somebody may become idle; LLONG_MAX: there is none. */
long long ref_next_silence(const struct reference *r);
/* The ready line, or the end of a hold: idle time counts from now. */
void ref_count_idle_anew(struct reference *r);
/* This connection has something that is not read yet. */
void ref_unread(struct reference *r, enum ref_side side, int feed, bool unread);

void ref_take(struct reference *r, const struct ref_record *record);
/* Time goes on by a record that will be taken later, because there is no room for it yet. */
void ref_show(struct reference *r, const struct ref_record *record);
void ref_end(struct reference *r, enum ref_side side);
/* Batch: the right side is read first, whole. */
bool ref_takes(const struct reference *r, enum ref_side side);

/* Lookup: a row of the table that is being read, ... */
void ref_table_row(struct reference *r, const struct ref_record *record);
/* ... which takes the place of the old one. False: it is wrong, and the old one stays; that it
 * does too when the new one does not fit into the state. */
bool ref_table_swap(struct reference *r, bool fits);

/* What has been caused since the start: all of it, at once. */
const struct ref_result *ref_results(const struct reference *r, size_t *ret_count);
struct ref_books ref_books(const struct reference *r, enum ref_side side);

/* The lowest time at which something will happen to a record; false: there is none. In
 * processing time this is the clock's, else the watermark's. */
bool ref_due(const struct reference *r, long long *ret_time);
/* The watermark of the join, in event time, or the clock. False: none yet. */
bool ref_time(const struct reference *r, long long *ret_time);
/* Of one side, by its own records. */
bool ref_own_time(const struct reference *r, enum ref_side side, long long *ret_time);
bool ref_is_idle(const struct reference *r, enum ref_side side);
/* Replay: the next record is this side's, whose own watermark is lower (none yet is the
 * lowest; equal: left). */
bool ref_is_next(const struct reference *r, enum ref_side side);

/* The records whose fate is late, by their numbers, in order. */
const int *ref_lates(const struct reference *r, size_t *ret_count);

/* --- expressions, for whoever has a select --- */

struct ref_texts; /* what values point into that were made */
struct ref_texts *ref_texts_new(void);
void ref_texts_free(struct ref_texts *t);

struct ref_view {
    const struct ref_record *record[2]; /* NULL: padded */
    long long time[2];
    bool windowed;
    long long start, end;
};

/* False: it fails. */
bool ref_evaluate(const struct ref_plan *plan, int expr, const struct ref_view *view,
                  struct ref_texts *texts, struct ref_value *ret);

#endif
