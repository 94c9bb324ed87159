#include "reference.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum fate { REJECTED, FILTERED, HELD, MATCHED, UNMATCHED };

struct kept {
    struct ref_record record;
    long long start; /* of its window */
    enum fate fate;
    bool grouped; /* its key's results have been made */
    bool had_match;
};

struct reference {
    struct ref_plan plan;
    struct kept *kept; /* owned; all records, in order of arrival */
    size_t kept_count, kept_capacity;
    struct ref_result *results; /* owned */
    size_t result_count, result_capacity;
    int groups;
    bool any_time;
    long long now; /* the time reached, if any */
    bool ended[2];
};

struct reference *ref_new(const struct ref_plan *plan)
{
    struct reference *r = calloc(1, sizeof(*r));
    if (r == NULL)
        abort();
    r->plan = *plan;
    return r;
}

void ref_free(struct reference *r)
{
    if (r == NULL)
        return;
    free(r->kept);
    free(r->results);
    free(r);
}

static void *room_for_one(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity * 2 + 16;
    list = realloc(list, *capacity * size);
    if (list == NULL)
        abort();
    return list;
}

/* --- the rules --- */

/* start = t - floormod(t - offset, size) */
static long long window_start(const struct ref_plan *p, long long t)
{
    long long rest = (t - p->offset) % p->size;
    if (rest < 0)
        rest += p->size;
    return t - rest;
}

static bool is_padded(const struct ref_plan *p, enum ref_side side)
{
    if (side == REF_SIDE_LEFT)
        return p->type == REF_LEFT || p->type == REF_FULL || p->type == REF_ANTI;
    return p->type == REF_RIGHT || p->type == REF_FULL;
}

static bool key_is_null(const struct ref_plan *p, const struct ref_record *a)
{
    for (int i = 0; i < p->keys; i++)
        if (a->key[i].kind == REF_NULL)
            return true;
    return false;
}

static double as_real(const struct ref_value *v)
{
    return v->kind == REF_WHOLE ? (double)v->whole : v->real;
}

/* bigint and double compare as double. */
static bool keys_equal(const struct ref_plan *p, const struct ref_record *a,
                       const struct ref_record *b)
{
    if (key_is_null(p, a) || key_is_null(p, b))
        return false;
    for (int i = 0; i < p->keys; i++) {
        const struct ref_value *x = &a->key[i], *y = &b->key[i];
        bool equal = x->kind == REF_TEXT ? strcmp(x->text, y->text) == 0
                     : p->key_is_real[i] ? as_real(x) == as_real(y)
                                         : x->whole == y->whole;
        if (!equal)
            return false;
    }
    return true;
}

static bool on_is_true(const struct ref_plan *p, const struct ref_record *left,
                       const struct ref_record *right)
{
    if (p->on == REF_NOBODY)
        return true;
    return (p->on == REF_SIDE_LEFT ? left : right)->on == REF_TRUE;
}

/* --- a window fires --- */

static void add_result(struct reference *r, enum ref_kind kind, const struct kept *left,
                       const struct kept *right)
{
    long long start = (left != NULL ? left : right)->start;
    r->results =
        room_for_one(r->results, r->result_count, &r->result_capacity, sizeof(*r->results));
    r->results[r->result_count++] = (struct ref_result){
        .kind = kind,
        .start = start,
        .end = start + r->plan.size,
        .group = r->groups,
        .left = left == NULL ? REF_NOBODY : left->record.id,
        .right = right == NULL ? REF_NOBODY : right->record.id,
    };
}

/* Is `k` in the window, of that side, and of the same key as `first`? A NULL key is like no other.
 */
static bool in_group(const struct reference *r, const struct kept *k, const struct kept *first,
                     enum ref_side side)
{
    if (k->fate != HELD || k->record.side != side || k->start != first->start)
        return false;
    return k == first || keys_equal(&r->plan, &k->record, &first->record);
}

/* All that becomes of one left record, given the right ones of its key. */
static void join_left(struct reference *r, struct kept *left, const struct kept *first)
{
    bool stops_at_first = r->plan.type == REF_SEMI || r->plan.type == REF_ANTI;
    for (size_t i = 0; i < r->kept_count; i++) {
        struct kept *right = &r->kept[i];
        if (!in_group(r, right, first, REF_SIDE_RIGHT) ||
            !on_is_true(&r->plan, &left->record, &right->record))
            continue;
        left->had_match = right->had_match = true;
        if (r->plan.type == REF_SEMI)
            add_result(r, REF_SEMI_ROW, left, NULL);
        if (stops_at_first)
            return;
        add_result(r, REF_PAIR, left, right);
    }
    if (!left->had_match && is_padded(&r->plan, REF_SIDE_LEFT))
        add_result(r, r->plan.type == REF_ANTI ? REF_ANTI_ROW : REF_PADDED_LEFT, left, NULL);
}

/* Left-major, in order of arrival; then the right records that found nobody. */
static void join_group(struct reference *r, const struct kept *first)
{
    for (size_t i = 0; i < r->kept_count; i++)
        if (in_group(r, &r->kept[i], first, REF_SIDE_LEFT)) {
            r->kept[i].grouped = true;
            join_left(r, &r->kept[i], first);
        }
    for (size_t i = 0; i < r->kept_count; i++)
        if (in_group(r, &r->kept[i], first, REF_SIDE_RIGHT)) {
            r->kept[i].grouped = true;
            if (!r->kept[i].had_match && is_padded(&r->plan, REF_SIDE_RIGHT))
                add_result(r, REF_PADDED_RIGHT, NULL, &r->kept[i]);
        }
    r->groups++;
}

static void fire(struct reference *r, long long start)
{
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].fate == HELD && r->kept[i].start == start && !r->kept[i].grouped)
            join_group(r, &r->kept[i]);
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].fate == HELD && r->kept[i].start == start)
            r->kept[i].fate = r->kept[i].had_match ? MATCHED : UNMATCHED;
}

/* A record of the first window that is open; NULL: none is. */
static const struct kept *first_held(const struct reference *r)
{
    const struct kept *first = NULL;
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].fate == HELD && (first == NULL || r->kept[i].start < first->start))
            first = &r->kept[i];
    return first;
}

bool ref_due(const struct reference *r, long long *ret_end)
{
    const struct kept *first = first_held(r);
    if (first == NULL)
        return false;
    *ret_end = first->start + r->plan.size;
    return true;
}

/* --- what comes --- */

void ref_time(struct reference *r, long long now)
{
    long long end;
    if (r->any_time && now <= r->now)
        return;
    r->any_time = true;
    r->now = now;
    while (ref_due(r, &end) && end <= now)
        fire(r, end - r->plan.size);
}

static enum fate judge(const struct reference *r, const struct ref_record *record)
{
    if (record->bad)
        return REJECTED;
    if (r->plan.where[record->side] && record->where != REF_TRUE)
        return FILTERED;
    if (key_is_null(&r->plan, record) && !is_padded(&r->plan, record->side))
        return UNMATCHED;
    return HELD;
}

void ref_take(struct reference *r, const struct ref_record *record, long long now)
{
    ref_time(r, now);
    r->kept = room_for_one(r->kept, r->kept_count, &r->kept_capacity, sizeof(*r->kept));
    r->kept[r->kept_count++] = (struct kept){
        .record = *record,
        .start = window_start(&r->plan, r->now),
        .fate = judge(r, record),
    };
}

void ref_end(struct reference *r, enum ref_side side)
{
    r->ended[side] = true;
    if (r->ended[REF_SIDE_LEFT] && r->ended[REF_SIDE_RIGHT])
        ref_time(r, LLONG_MAX);
}

/* --- what is known --- */

const struct ref_result *ref_results(const struct reference *r, size_t *ret_count)
{
    *ret_count = r->result_count;
    return r->results;
}

struct ref_books ref_books(const struct reference *r, enum ref_side side)
{
    struct ref_books b = {0};
    for (size_t i = 0; i < r->kept_count; i++) {
        const struct kept *k = &r->kept[i];
        if (k->record.side != side)
            continue;
        b.received++;
        b.rejected += k->fate == REJECTED;
        b.filtered += k->fate == FILTERED;
        b.matched += k->fate == MATCHED;
        b.unmatched += k->fate == UNMATCHED;
        b.held += k->fate == HELD;
    }
    return b;
}
