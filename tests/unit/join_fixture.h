/*
 * A join made by hand, as config would make it, and what its results say.
 *
 * Unless a test wants others, both sides have the fields `k, id, ok boolean` (in event
 * time also `t timestamp_ms`) and the key `k`. In results a record is called by its second field:
 * (a,x), (a,null), (null,x), (a) for rows of semi and anti, and !(a,x) where `on` failed.
 */
#ifndef UNIT_JOIN_FIXTURE_H
#define UNIT_JOIN_FIXTURE_H

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "model/plan.h"
#include "model/result.h"

#define FIXTURE_FIELDS_MAX 8

/* What is left out is as the comment says. */
struct join_words {
    enum join_type type;   /* inner */
    enum match_kind match; /* tumbling */
    enum time_kind time;   /* processing */
    int64_t size_ms;       /* 10000 */
    int64_t slide_ms;      /* size_ms */
    int64_t offset_ms;
    int64_t gap_ms, lower_ms, upper_ms, grace_ms;
    bool keep_times;
    bool replay;
    const char *timestamp[SIDES]; /* event time: t */
    int64_t delay_ms[SIDES];
    int64_t idle_ms[SIDES];      /* 0: off */
    int64_t max_ahead_ms[SIDES]; /* 0: off */
    const char *fields[SIDES];   /* k, id, ok boolean; in event time and t timestamp_ms */
    const char *key[SIDES];      /* k; "" is no key at all */
    const char *where[SIDES];    /* all records */
    const char *on;              /* true */
    uint64_t state_bytes_max;    /* 1 GiB */
    uint64_t hash_seed;
};

static inline void add_fields(struct schema *schema, const char *words)
{
    char *copy = mem_strdup(words), *rest = copy, *item;

    while ((item = strsep(&rest, ",")) != NULL) {
        char name[32], word[32] = "string";
        enum value_type type;
        assert_true(sscanf(item, "%31s %31s", name, word) >= 1);
        assert_true(value_type_from_name(bytes_of(word), &type));
        schema_add(schema, bytes_of(name), type);
    }
    assert_true(schema->count <= FIXTURE_FIELDS_MAX);
    mem_free(copy);
}

/* `side` SIDES: names may be of either. */
static inline struct expr_list bound_list(const struct plan *p, int side, const char *text)
{
    struct expr_scope scope = {.times = false};
    struct expr_fault fault = {0, NULL};
    struct expr_list list;

    for (int s = 0; s < SIDES; s++)
        if (side == SIDES || side == s)
            scope.schemas[s] = &p->side[s].schema;
    if (!expr_parse_list(bytes_of(text), false, &list, &fault))
        fail_msg("%s: %s", text, fault.message);
    for (size_t i = 0; i < list.count; i++)
        if (!expr_bind(list.items[i].expr, &scope, &fault))
            fail_msg("%s: %s", text, fault.message);
    return list;
}

static inline struct expr *bound_expr(const struct plan *p, int side, const char *text)
{
    struct expr_list list = bound_list(p, side, text);
    struct expr *e;

    assert_int_equal(list.count, 1);
    e = list.items[0].expr;
    list.items[0].expr = NULL;
    expr_list_done(&list);
    return e;
}

/* NULL of NULL. */
static inline struct expr *bound_condition(const struct plan *p, int side, const char *text)
{
    struct expr *condition;

    if (text == NULL)
        return NULL;
    condition = bound_expr(p, side, text);
    assert_int_equal(condition->type, TYPE_BOOLEAN);
    return condition;
}

static inline void read_time(struct plan *p, int s, const struct join_words *w)
{
    struct plan_side *side = &p->side[s];

    if (w->time == TIME_EVENT)
        side->timestamp = bound_expr(p, s, w->timestamp[s] == NULL ? "t" : w->timestamp[s]);
    side->delay_ms = w->delay_ms[s];
    side->idle_ms = w->idle_ms[s] == 0 ? PLAN_OFF : w->idle_ms[s];
    side->max_ahead_ms = w->max_ahead_ms[s] == 0 ? PLAN_OFF : w->max_ahead_ms[s];
}

static inline void read_keys(struct plan *p, const char *const words[SIDES])
{
    struct plan_side *left = &p->side[SIDE_LEFT], *right = &p->side[SIDE_RIGHT];

    for (int s = 0; s < SIDES; s++)
        if (words[s] == NULL || words[s][0] != '\0')
            p->side[s].key = bound_list(p, s, words[s] == NULL ? "k" : words[s]);
    assert_int_equal(left->key.count, right->key.count);
    left->key_as_double = mem_alloc_zeroed(left->key.count, sizeof(bool));
    right->key_as_double = mem_alloc_zeroed(left->key.count, sizeof(bool));
    for (size_t i = 0; i < left->key.count; i++)
        left->key_as_double[i] = right->key_as_double[i] =
            value_type_class(left->key.items[i].expr->type) == TYPE_DOUBLE ||
            value_type_class(right->key.items[i].expr->type) == TYPE_DOUBLE;
}

static inline struct plan *plan_of(const struct join_words *w)
{
    struct plan *p = plan_new();

    p->type = w->type;
    p->size_ms = w->size_ms == 0 ? 10000 : w->size_ms;
    p->match = w->match;
    p->time = w->time;
    p->slide_ms = w->slide_ms == 0 ? p->size_ms : w->slide_ms;
    p->offset_ms = w->offset_ms;
    p->gap_ms = w->gap_ms;
    p->lower_ms = w->lower_ms;
    p->upper_ms = w->upper_ms;
    p->grace_ms = w->grace_ms;
    p->keep_times = w->keep_times;
    p->replay = w->replay;
    p->state_bytes_max = w->state_bytes_max == 0 ? UINT64_C(1) << 30 : w->state_bytes_max;
    p->hash_seed = w->hash_seed;
    for (int s = 0; s < SIDES; s++) {
        struct schema *schema = &p->side[s].schema;
        const char *usual =
            w->time == TIME_EVENT ? "k, id, ok boolean, t timestamp_ms" : "k, id, ok boolean";
        add_fields(schema, w->fields[s] == NULL ? usual : w->fields[s]);
        p->side[s].form = (struct record_form){schema->count, ',', {mem_strdup(""), 0}};
        p->side[s].where = bound_condition(p, s, w->where[s]);
        read_time(p, s, w);
    }
    read_keys(p, w->key);
    p->on = bound_condition(p, SIDES, w->on);
    return p;
}
#define PLAN(...) plan_of(&(struct join_words){__VA_ARGS__})

/* --- results --- */

static inline struct bytes field_of(const struct plan *p, enum side side, const struct record *r,
                                    size_t field)
{
    struct bytes fields[FIXTURE_FIELDS_MAX];

    record_fields(r, &p->side[side].form, fields);
    return fields[field];
}

static inline bool has_sides(const struct result *r, bool left, bool right)
{
    return (r->record[SIDE_LEFT] != NULL) == left && (r->record[SIDE_RIGHT] != NULL) == right;
}

/* The kind, the type of the join and the records that are there agree. */
static inline void assert_shape(const struct plan *p, const struct result *r)
{
    bool lone = p->type == JOIN_SEMI || p->type == JOIN_ANTI;

    switch (r->kind) {
    case RESULT_PAIR:
        assert_true(has_sides(r, true, true) && !lone);
        return;
    case RESULT_LEFT:
        assert_true(has_sides(r, true, false) && !lone && plan_pads(p, SIDE_LEFT));
        return;
    case RESULT_RIGHT:
        assert_true(has_sides(r, false, true) && plan_pads(p, SIDE_RIGHT));
        return;
    case RESULT_SEMI:
        assert_true(has_sides(r, true, false) && p->type == JOIN_SEMI);
        return;
    case RESULT_ANTI:
        assert_true(has_sides(r, true, false) && p->type == JOIN_ANTI);
        return;
    case RESULT_FAILED:
        assert_true(has_sides(r, true, true) && p->on != NULL);
        return;
    }
    fail_msg("kind %d", (int)r->kind);
}

static inline void append_id(const struct plan *p, enum side side, const struct record *r,
                             struct buf *to)
{
    if (r == NULL)
        buf_append_text(to, "null");
    else
        buf_append_bytes(to, field_of(p, side, r, 1));
}

static inline void append_result(const struct plan *p, const struct result *r, struct buf *to)
{
    assert_shape(p, r);
    buf_append_text(to, r->kind == RESULT_FAILED ? "!(" : "(");
    append_id(p, SIDE_LEFT, r->record[SIDE_LEFT], to);
    if (r->kind != RESULT_SEMI && r->kind != RESULT_ANTI) {
        buf_append_char(to, ',');
        append_id(p, SIDE_RIGHT, r->record[SIDE_RIGHT], to);
    }
    buf_append_char(to, ')');
}

/* --- cross products --- */

#define PRODUCT_KEYS_MAX 1024

/* Pairs whose keys and ids are numbers, looked at as they come: each key's must be
 * left-major in order of arrival, so none can come twice. */
struct product {
    struct {
        uint64_t lefts, rights; /* that were put in */
        uint64_t left, right;   /* the last pair that came out */
    } keys[PRODUCT_KEYS_MAX];
    uint64_t pairs;
};

static inline uint64_t number_of(const struct plan *p, enum side side, const struct record *r,
                                 size_t field)
{
    struct bytes text = field_of(p, side, r, field);
    char copy[32] = "";

    assert_true(text.n < sizeof(copy));
    memcpy(copy, text.p, text.n);
    return strtoull(copy, NULL, 10);
}

static inline void product_in(struct product *x, enum side side, uint64_t key)
{
    if (side == SIDE_LEFT)
        x->keys[key].lefts++;
    else
        x->keys[key].rights++;
}

/* Ids must grow in order of arrival, from 1 on. */
static inline void product_out(struct product *x, const struct plan *p, const struct result *r)
{
    uint64_t key = number_of(p, SIDE_LEFT, r->record[SIDE_LEFT], 0);
    uint64_t left = number_of(p, SIDE_LEFT, r->record[SIDE_LEFT], 1);
    uint64_t right = number_of(p, SIDE_RIGHT, r->record[SIDE_RIGHT], 1);

    assert_shape(p, r);
    assert_int_equal(key, number_of(p, SIDE_RIGHT, r->record[SIDE_RIGHT], 0));
    assert_true(left > x->keys[key].left ||
                (left == x->keys[key].left && right > x->keys[key].right));
    x->keys[key].left = left;
    x->keys[key].right = right;
    x->pairs++;
}

/* All of it has come. */
static inline void assert_product(const struct product *x)
{
    uint64_t pairs = 0;

    for (size_t i = 0; i < PRODUCT_KEYS_MAX; i++)
        pairs += x->keys[i].lefts * x->keys[i].rights;
    assert_int_equal(x->pairs, pairs);
}

/* --- chance, the same on every run --- */

static inline uint32_t dice(uint64_t *seed, uint32_t sides)
{
    return (uint32_t)(hash_number((*seed)++) >> 32) % sides;
}

#endif
