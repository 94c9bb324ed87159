/* The parts of the reference, to each other. */
#ifndef MODEL_REFERENCE_PARTS_H
#define MODEL_REFERENCE_PARTS_H

#include <limits.h>

#include "reference.h"

#define REF_NO_TIME     LLONG_MIN /* none yet */
#define REF_END_OF_TIME LLONG_MAX

enum ref_fate { REF_REJECTED, REF_FILTERED, REF_IS_LATE, REF_HELD, REF_MATCHED, REF_UNMATCHED };

struct ref_kept {
    struct ref_record record;
    struct ref_value key[REF_KEYS_MAX];
    bool key_is_null;
    long long time;
    enum ref_fate fate;
    bool stored; /* it can still be found, by another or by time */
    bool in_gap; /* sliding: it lies in no window */
    int session;
};

/* A record in one of its windows. */
struct ref_stay {
    size_t kept;
    long long start;
    bool matched; /* there */
    bool grouped; /* its key has had its turn */
};

struct ref_window {
    long long start;
    bool fired, closed;
};

struct ref_session {
    long long start, last;
    bool open;
};

struct ref_feed {
    bool open, unread, idle;
    long long highest; /* or REF_NO_TIME: no record yet */
    long long since;   /* by the clock: the last record; idle time counts from here */
};

struct ref_side_time {
    struct ref_feed feed[REF_FEEDS_MAX];
    long long own;   /* or REF_NO_TIME */
    long long since; /* as a feed's */
    bool idle, ended;
};

struct reference {
    struct ref_plan plan;
    struct ref_kept *kept; /* owned; all records, in order of arrival */
    size_t kept_count, kept_capacity;
    struct ref_stay *stays; /* owned; in order of arrival, then of window */
    size_t stay_count, stay_capacity;
    struct ref_window *windows; /* owned */
    size_t window_count, window_capacity;
    struct ref_session *sessions; /* owned */
    size_t session_count, session_capacity;
    struct ref_result *results; /* owned */
    size_t result_count, result_capacity;
    struct ref_record *rows; /* owned; of the table that is being read */
    size_t row_count, row_capacity;
    int *lates; /* owned */
    size_t late_count, late_capacity;
    struct ref_texts *texts; /* owned */
    int section, group;
    bool windowed; /* the results at hand are of this window */
    long long start, end;
    long late_windows[2];

    /* time */
    struct ref_side_time side[2];
    long long wall;  /* clock */
    long long clock; /* the monotonic one */
    bool drifting;
    long long drift_from, drift_base;
    long long time; /* reached: the watermark, or the clock; or REF_NO_TIME */
};

static inline bool ref_broken(const struct reference *r, enum ref_sabotage rule)
{
    return r->plan.sabotage == (int)rule;
}

void *ref_room_for_one(void *list, size_t count, size_t *capacity, size_t size);

/* Windows: has time reached `end`? In event time its last millisecond is enough: nothing
 * below the watermark's next one will come. */
static inline bool ref_has_come(const struct reference *r, long long end)
{
    if (r->time == REF_NO_TIME || r->time == REF_END_OF_TIME)
        return r->time == REF_END_OF_TIME;
    return r->plan.event_time ? r->time >= end - 1 : r->time >= end;
}

/* --- reference.c: what all matches have in common --- */

bool ref_is_padded(const struct reference *r, enum ref_side side);
bool ref_is_one_sided(const struct reference *r); /* semi, anti */
bool ref_keys_equal(const struct reference *r, const struct ref_kept *a, const struct ref_kept *b);
/* What `on` says; it tells when `on` fails. */
bool ref_on(struct reference *r, const struct ref_kept *left, const struct ref_kept *right);

void ref_next_section(struct reference *r);
void ref_next_group(struct reference *r);
/* NULL: nobody. The bounds are those of ref_bounds(). */
void ref_add(struct reference *r, enum ref_kind kind, const struct ref_kept *left,
             const struct ref_kept *right);
void ref_pad(struct reference *r, const struct ref_kept *k);
void ref_has_matched(struct ref_kept *k);
void ref_has_left(struct ref_kept *k); /* state: unmatched unless it matched */
void ref_is_late(struct reference *r, struct ref_kept *k);

/* The window that results are of, from now on. */
void ref_bounds(struct reference *r, long long start, long long end);
void ref_no_bounds(struct reference *r);

/* `where` and the key. False: its fate is known; else it is held. */
bool ref_judge(struct reference *r, struct ref_kept *k);

/* Time has moved: what is due? */
void ref_advance(struct reference *r);

/* --- reference_time.c --- */

void ref_time_init(struct reference *r);
/* A record of that time came. */
void ref_time_record(struct reference *r, const struct ref_record *record);

/* --- one of these a match: a record has come; time has moved; when it will --- */

void ref_window_take(struct reference *r, size_t kept);
void ref_window_advance(struct reference *r);
bool ref_window_due(const struct reference *r, long long *ret_time);

void ref_session_take(struct reference *r, size_t kept);
void ref_session_advance(struct reference *r);
bool ref_session_due(const struct reference *r, long long *ret_time);

void ref_interval_take(struct reference *r, size_t kept);
void ref_interval_advance(struct reference *r);
bool ref_interval_due(const struct reference *r, long long *ret_time);

void ref_latest_take(struct reference *r, size_t kept);
void ref_latest_advance(struct reference *r);
bool ref_latest_due(const struct reference *r, long long *ret_time);

/* Batch and lookup. */
void ref_batch_take(struct reference *r, size_t kept);
void ref_batch_advance(struct reference *r);

#endif
