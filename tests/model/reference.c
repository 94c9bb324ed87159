#include "reference.h"

#include <stdlib.h>
#include <string.h>

#include "reference_parts.h"

struct reference *ref_new(const struct ref_plan *plan)
{
    struct reference *r = calloc(1, sizeof(*r));
    if (r == NULL)
        abort();
    r->plan = *plan;
    if (ref_broken(r, REF_NO_GRACE))
        r->plan.grace = 0;
    r->texts = ref_texts_new();
    ref_time_init(r);
    return r;
}

void ref_free(struct reference *r)
{
    if (r == NULL)
        return;
    ref_texts_free(r->texts);
    free(r->kept);
    free(r->stays);
    free(r->windows);
    free(r->sessions);
    free(r->results);
    free(r->rows);
    free(r->lates);
    free(r);
}

void *ref_room_for_one(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity * 2 + 16;
    list = realloc(list, *capacity * size);
    if (list == NULL)
        abort();
    return list;
}

/* --- records to each other --- */

bool ref_is_padded(const struct reference *r, enum ref_side side)
{
    enum ref_type type = r->plan.type;
    if (side == REF_SIDE_LEFT)
        return type == REF_LEFT || type == REF_FULL || type == REF_ANTI;
    return type == REF_RIGHT || type == REF_FULL;
}

bool ref_is_one_sided(const struct reference *r)
{
    return r->plan.type == REF_SEMI || r->plan.type == REF_ANTI;
}

static double real_of(const struct ref_value *v)
{
    return v->kind == REF_WHOLE ? (double)v->whole : v->real;
}

/* bigint and double compare as double. */
static bool values_equal(const struct ref_value *x, const struct ref_value *y, bool as_real)
{
    if (x->kind == REF_NULL || y->kind == REF_NULL)
        return x->kind == y->kind;
    if (x->kind == REF_TEXT)
        return strcmp(x->text, y->text) == 0;
    return as_real ? real_of(x) == real_of(y) : x->whole == y->whole;
}

/* NULL equals nothing. */
bool ref_keys_equal(const struct reference *r, const struct ref_kept *a, const struct ref_kept *b)
{
    if ((a->key_is_null || b->key_is_null) && !ref_broken(r, REF_NULLS_ARE_EQUAL))
        return false;
    for (int i = 0; i < r->plan.keys; i++)
        if (!values_equal(&a->key[i], &b->key[i], r->plan.key_is_real[i]))
            return false;
    return true;
}

bool ref_on(struct reference *r, const struct ref_kept *left, const struct ref_kept *right)
{
    struct ref_view view = {
        .record = {&left->record, &right->record},
        .time = {left->time, right->time},
    };
    struct ref_value v;
    if (r->plan.on == REF_NOBODY)
        return true;
    if (!ref_evaluate(&r->plan, r->plan.on, &view, r->texts, &v)) {
        if (!ref_broken(r, REF_FAILED_UNTOLD))
            ref_add(r, REF_FAILED, left, right);
        return false;
    }
    if (v.kind == REF_NULL)
        return ref_broken(r, REF_UNKNOWN_IS_TRUE);
    return v.whole != 0;
}

/* --- results and fates --- */

void ref_next_section(struct reference *r)
{
    r->section++;
    r->group++;
}

void ref_next_group(struct reference *r)
{
    r->group++;
}

void ref_bounds(struct reference *r, long long start, long long end)
{
    r->windowed = true;
    r->start = start;
    r->end = end;
}

void ref_no_bounds(struct reference *r)
{
    r->windowed = false;
    r->start = r->end = 0;
}

void ref_add(struct reference *r, enum ref_kind kind, const struct ref_kept *left,
             const struct ref_kept *right)
{
    r->results =
        ref_room_for_one(r->results, r->result_count, &r->result_capacity, sizeof(*r->results));
    r->results[r->result_count++] = (struct ref_result){
        .kind = kind,
        .windowed = r->windowed,
        .start = r->start,
        .end = r->end,
        .section = r->section,
        .group = r->group,
        .left = left == NULL ? REF_NOBODY : left->record.id,
        .right = right == NULL ? REF_NOBODY : right->record.id,
        .left_time = left == NULL ? 0 : left->time,
        .right_time = right == NULL ? 0 : right->time,
    };
}

void ref_pad(struct reference *r, const struct ref_kept *k)
{
    enum ref_side side = k->record.side;
    if (!ref_is_padded(r, side))
        return;
    for (int times = ref_broken(r, REF_PADS_TWICE) ? 2 : 1; times > 0; times--) {
        if (side == REF_SIDE_RIGHT)
            ref_add(r, REF_PADDED_RIGHT, NULL, k);
        else
            ref_add(r, r->plan.type == REF_ANTI ? REF_ANTI_ROW : REF_PADDED_LEFT, k, NULL);
    }
}

void ref_has_matched(struct ref_kept *k)
{
    k->fate = REF_MATCHED;
}

void ref_has_left(struct ref_kept *k)
{
    k->stored = false;
    if (k->fate == REF_HELD)
        k->fate = REF_UNMATCHED;
}

void ref_is_late(struct reference *r, struct ref_kept *k)
{
    k->fate = REF_IS_LATE;
    r->lates = ref_room_for_one(r->lates, r->late_count, &r->late_capacity, sizeof(*r->lates));
    r->lates[r->late_count++] = k->record.id;
}

/* --- what comes --- */

void ref_advance(struct reference *r)
{
    switch (r->plan.match) {
    case REF_TUMBLING:
    case REF_SLIDING:
        ref_window_advance(r);
        break;
    case REF_SESSION:
        ref_session_advance(r);
        break;
    case REF_INTERVAL:
        ref_interval_advance(r);
        break;
    case REF_LATEST:
        ref_latest_advance(r);
        break;
    case REF_BATCH:
    case REF_LOOKUP:
        ref_batch_advance(r);
        break;
    }
}

/* NULL, unreadable, or too far ahead of the machine's clock. */
static bool time_is_bad(const struct reference *r, const struct ref_record *record)
{
    long long ahead = r->plan.max_ahead[record->side];
    if (!record->timed)
        return true;
    return ahead != REF_OFF && !ref_broken(r, REF_ANY_TIME_IS_BELIEVED) &&
           record->time > r->wall + ahead;
}

/* False: its fate is known. */
static bool passes_where(struct reference *r, struct ref_kept *k)
{
    struct ref_view view = {.record = {NULL, NULL}};
    struct ref_value v;
    int where = r->plan.where[k->record.side];
    view.record[k->record.side] = &k->record;
    if (where == REF_NOBODY)
        return true;
    if (!ref_evaluate(&r->plan, where, &view, r->texts, &v)) {
        k->fate = REF_REJECTED;
        return false;
    }
    if (v.kind == REF_NULL || v.whole == 0) {
        k->fate = REF_FILTERED;
        return false;
    }
    return true;
}

/* The same. A NULL key that will not be padded is unmatched on arrival. */
static bool has_key(struct reference *r, struct ref_kept *k)
{
    struct ref_view view = {.record = {NULL, NULL}};
    enum ref_side side = k->record.side;
    view.record[side] = &k->record;
    for (int i = 0; i < r->plan.keys; i++) {
        if (!ref_evaluate(&r->plan, r->plan.key[side][i], &view, r->texts, &k->key[i])) {
            k->fate = REF_REJECTED;
            return false;
        }
        k->key_is_null = k->key_is_null || k->key[i].kind == REF_NULL;
    }
    if (k->key_is_null && !ref_is_padded(r, side) && !ref_broken(r, REF_NULLS_ARE_EQUAL)) {
        k->fate = REF_UNMATCHED;
        return false;
    }
    return true;
}

bool ref_judge(struct reference *r, struct ref_kept *k)
{
    if (!passes_where(r, k) || !has_key(r, k))
        return false;
    k->fate = REF_HELD;
    return true;
}

static void take_kept(struct reference *r, size_t kept)
{
    switch (r->plan.match) {
    case REF_TUMBLING:
    case REF_SLIDING:
        ref_window_take(r, kept);
        break;
    case REF_SESSION:
        ref_session_take(r, kept);
        break;
    case REF_INTERVAL:
        ref_interval_take(r, kept);
        break;
    case REF_LATEST:
        ref_latest_take(r, kept);
        break;
    case REF_BATCH:
    case REF_LOOKUP:
        ref_batch_take(r, kept);
        break;
    }
}

/* In the order of section 1: readable, timestamp, time goes on, where, key, late or not. */
void ref_take(struct reference *r, const struct ref_record *record)
{
    size_t at = r->kept_count;
    r->kept = ref_room_for_one(r->kept, r->kept_count, &r->kept_capacity, sizeof(*r->kept));
    struct ref_kept *k = &r->kept[r->kept_count++];
    *k = (struct ref_kept){.record = *record, .time = r->time, .fate = REF_REJECTED};
    if (record->bad)
        return;
    bool sooner = ref_broken(r, REF_FILTERED_MOVES_NO_TIME);
    if (r->plan.event_time) {
        if (time_is_bad(r, record))
            return;
        k->time = record->time;
        if (sooner && !passes_where(r, k))
            return;
        ref_time_record(r, record);
    }
    if (ref_judge(r, k))
        take_kept(r, at);
}

void ref_show(struct reference *r, const struct ref_record *record)
{
    if (!record->bad && !time_is_bad(r, record))
        ref_time_record(r, record);
}

/* --- what is known --- */

const struct ref_result *ref_results(const struct reference *r, size_t *ret_count)
{
    *ret_count = r->result_count;
    return r->results;
}

struct ref_books ref_books(const struct reference *r, enum ref_side side)
{
    struct ref_books b = {.late_windows = r->late_windows[side]};
    for (size_t i = 0; i < r->kept_count; i++) {
        const struct ref_kept *k = &r->kept[i];
        if (k->record.side != side)
            continue;
        b.received++;
        b.rejected += k->fate == REF_REJECTED;
        b.filtered += k->fate == REF_FILTERED;
        b.late += k->fate == REF_IS_LATE;
        b.matched += k->fate == REF_MATCHED;
        b.unmatched += k->fate == REF_UNMATCHED;
        b.held += k->fate == REF_HELD;
    }
    return b;
}

const int *ref_lates(const struct reference *r, size_t *ret_count)
{
    *ret_count = r->late_count;
    return r->lates;
}

bool ref_due(const struct reference *r, long long *ret_time)
{
    switch (r->plan.match) {
    case REF_TUMBLING:
    case REF_SLIDING:
        return ref_window_due(r, ret_time);
    case REF_SESSION:
        return ref_session_due(r, ret_time);
    case REF_INTERVAL:
        return ref_interval_due(r, ret_time);
    case REF_LATEST:
        return ref_latest_due(r, ret_time);
    case REF_BATCH:
    case REF_LOOKUP:
        break;
    }
    return false;
}
