#include "engine/judge.h"

#include <assert.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hash_inline.h"
#include "base/number.h"
#include "base/time.h"

/* Parts of a key are joined by what no record can contain. */
#define KEY_SEPARATOR '\0'

/* Is the key one field as it stands? Else it has to be built. */
static bool key_field(const struct plan_side *p, size_t *ret)
{
    if (p->key.count != 1 || p->key_as_double[0] || p->key.items[0].expr->kind != EXPR_FIELD)
        return false;
    *ret = p->key.items[0].expr->field;
    return true;
}

/* Aligned windows know to within their size when a record was. */
static uint16_t time_flag(const struct plan *plan)
{
    const struct match_traits *traits = plan_traits(plan);

    if (traits->aligned && plan->size_ms <= UINT32_MAX)
        return RECORD_TIME32;
    return traits->by_time || plan->keep_times ? RECORD_TIMED : 0;
}

void judge_init(struct judge *j, const struct plan *plan)
{
    *j = (struct judge){.plan = plan, .memory = expr_memory_new()};
    for (int s = 0; s < SIDES; s++)
        j->key_is_field[s] = key_field(&plan->side[s], &j->key_field[s]);
    j->flags = time_flag(plan);
}

void judge_done(struct judge *j)
{
    expr_memory_free(j->memory);
}

static struct expr_input input_of(const struct judge *j)
{
    return (struct expr_input){
        .window_start = EXPR_NO_WINDOW,
        .window_end = EXPR_NO_WINDOW,
        .memory = j->memory,
    };
}

/* Evaluates what `name` stands for. False: it failed, and the row is rejected. */
static inline bool ask(const char *name, const struct expr *e, const struct expr_input *in,
                       struct batch *b, size_t i, struct value *ret)
{
    enum expr_outcome outcome = expr_evaluate(e, in, ret);

    if (outcome == EXPR_OK)
        return true;
    batch_reject(b, &b->rows[i], REJECT_EXPRESSION, "%s: %s", name, expr_outcome_text(outcome));
    return false;
}

/* --- time --- */

/* It is as if the row had none: time does not go on by it. */
static void reject_time(struct batch *b, size_t i, const char *why)
{
    batch_reject(b, &b->rows[i], REJECT_TIMESTAMP, "timestamp: %s", why);
    b->times[i] = BATCH_NO_TIME;
}

static void reject_ahead(struct batch *b, size_t i, int64_t ahead_ms)
{
    struct buf text = BUF_EMPTY;

    time_append_rfc3339(b->times[i], &text);
    buf_append_text(&text, " is ");
    duration_write(ahead_ms, &text);
    buf_append_text(&text, " ahead of the clock, which is further than max_ahead allows");
    reject_time(b, i, buf_text(&text));
    buf_done(&text);
}

/* The timestamp is an expression. */
static void evaluate_time(const struct judge *j, enum side side, struct batch *b, size_t i)
{
    const struct expr *e = j->plan->side[side].timestamp;
    struct expr_input in = input_of(j);
    struct value v;

    if (b->rows[i].verdict == VERDICT_REJECTED)
        return;
    b->times[i] = BATCH_NO_TIME;
    in.fields[side] = batch_row_fields(b, &b->rows[i]);
    expr_memory_reset(j->memory);
    if (ask("timestamp", e, &in, b, i, &v) && !v.null &&
        !value_instant_ms(e->type, &v, &b->times[i]))
        reject_time(b, i, "outside the years 0001 to 9999");
}

/* The timestamp is a field, but the decoder does not tell it. */
static void read_time(const struct judge *j, enum side side, struct batch *b, size_t i)
{
    const struct expr *e = j->plan->side[side].timestamp;
    struct bytes text = batch_row_fields(b, &b->rows[i])[e->field];

    if (b->rows[i].verdict != VERDICT_REJECTED)
        b->times[i] = text.p == NULL ? BATCH_NO_TIME : value_time_ms(e->type, text);
}

/* Rows without a time that are not rejected yet, and those beyond the last time believed. */
static void check_times(struct batch *b, int64_t clock_ms, int64_t max_ahead_ms)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->rows[i].verdict == VERDICT_REJECTED) {
            b->times[i] = BATCH_NO_TIME;
        } else if (b->times[i] == BATCH_NO_TIME) {
            reject_time(b, i, "it is NULL");
        } else if (max_ahead_ms != PLAN_OFF && b->times[i] - clock_ms > max_ahead_ms) {
            reject_ahead(b, i, b->times[i] - clock_ms);
        }
    }
}

/* Are they all there, and believed? Told by the signs of differences: that of none, which is
 * INT64_MIN, is wrong where the last one believed is not negative. False: perhaps not. */
static bool are_good(const struct batch *b, int64_t last_ms)
{
    uint64_t signs = 0;

    for (size_t i = 0; i < b->count; i++)
        signs |= (uint64_t)last_ms - (uint64_t)b->times[i];
    return last_ms >= 0 && b->rejected == 0 && signs <= INT64_MAX;
}

/* Times beyond this one are not believed. */
static int64_t last_believed(const struct plan_side *p, int64_t clock_ms)
{
    if (p->max_ahead_ms == PLAN_OFF || clock_ms > TIME_MS_MAX - p->max_ahead_ms)
        return TIME_MS_MAX;
    return clock_ms + p->max_ahead_ms;
}

static void judge_times(const struct judge *j, enum side side, struct batch *b, int64_t clock_ms)
{
    const struct plan_side *p = &j->plan->side[side];
    bool is_field = p->timestamp->kind == EXPR_FIELD;

    if (!is_field || !b->timed)
        for (size_t i = 0; i < b->count; i++) {
            if (is_field)
                read_time(j, side, b, i);
            else
                evaluate_time(j, side, b, i);
        }
    if (!are_good(b, last_believed(p, clock_ms)))
        check_times(b, clock_ms, p->max_ahead_ms);
}

/* --- where --- */

static void judge_where(const struct judge *j, enum side side, struct batch *b)
{
    const struct expr *where = j->plan->side[side].where;
    const bool makes_texts = expr_makes_texts(where);
    struct expr_input in = input_of(j);
    struct value v;

    for (size_t i = 0; i < b->count; i++) {
        if (b->rows[i].verdict == VERDICT_REJECTED)
            continue;
        if (makes_texts)
            expr_memory_reset(j->memory);
        in.fields[side] = b->fields + i * b->field_count;
        if (ask("where", where, &in, b, i, &v) && (v.null || !v.boolean))
            b->rows[i].verdict = VERDICT_FILTERED;
    }
}

/* --- keys --- */

static void append_as_double(struct buf *to, const struct value *v)
{
    double number = v->type == TYPE_BIGINT ? (double)v->bigint : v->real;

    if (number == 0)
        number = 0; /* -0 = 0 */
    buf_advance(to, number_write_double(number, buf_reserve(to, NUMBER_TEXT_MAX)));
}

/* All parts are asked: whether one fails is no matter of their order. False: one did, or is NULL.
 */
static bool make_key(const struct judge *j, enum side side, struct batch *b, size_t i)
{
    const struct plan_side *p = &j->plan->side[side];
    struct expr_input in = input_of(j);
    struct buf *to = &b->key_texts;
    bool null = false;
    struct value v;

    in.fields[side] = b->fields + i * b->field_count;
    expr_memory_reset(j->memory);
    for (size_t k = 0; k < p->key.count; k++) {
        if (!ask("key", p->key.items[k].expr, &in, b, i, &v))
            return false;
        null |= v.null;
        if (null)
            continue;
        if (k > 0)
            buf_append_char(to, KEY_SEPARATOR);
        if (p->key_as_double[k])
            append_as_double(to, &v);
        else
            value_append(&v, to); /* canonical: equal values, equal bytes */
    }
    return !null;
}

/* Texts move while they grow: where they lie is said when all are there, one behind the other. */
static void make_keys(const struct judge *j, enum side side, struct batch *b)
{
    const char *at;

    buf_clear(&b->key_texts);
    for (size_t i = 0; i < b->count; i++) {
        const size_t from = b->key_texts.tail;

        b->made_keys[i] = BYTES_NULL;
        if (!batch_takes(b, i))
            continue;
        if (make_key(j, side, b, i))
            b->made_keys[i] = (struct bytes){"", b->key_texts.tail - from};
        else
            b->key_texts.tail = from;
    }
    at = buf_data(&b->key_texts);
    for (size_t i = 0; i < b->count; i++)
        if (b->made_keys[i].p != NULL) {
            b->made_keys[i].p = at;
            at += b->made_keys[i].n;
        }
}

static inline uint32_t hash_key(struct bytes key, uint64_t seed)
{
    return (uint32_t)(hash_bytes_inline(key.p, key.n, seed) >> 32);
}

/* NULL matches nothing: it is stored where it will be padded. False: all rows are to be stored as
 * they came. */
static bool hash_keys(const struct judge *j, enum side side, struct batch *b)
{
    const uint64_t seed = j->plan->hash_seed;
    const size_t step = b->key_step;
    const struct bytes *key = b->keys;
    const bool pads = plan_pads(j->plan, side);
    unsigned verdicts = 0;

    for (size_t i = 0; i < b->count; i++, key += step) {
        struct row *row = &b->rows[i];

        if (key->p != NULL)
            b->hashes[i] = hash_key(*key, seed);
        else if (row->verdict <= VERDICT_TAKE_PACKED && !pads)
            row->verdict = VERDICT_UNMATCHED;
        verdicts |= row->verdict;
    }
    return verdicts != VERDICT_TAKE;
}

/* The fields of a rejected row are not set. */
static void forget_key_fields(const struct judge *j, enum side side, struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->rows[i].verdict == VERDICT_REJECTED)
            batch_row_fields(b, &b->rows[i])[j->key_field[side]] = BYTES_NULL;
}

static bool judge_keys(const struct judge *j, enum side side, struct batch *b)
{
    if (j->key_is_field[side]) {
        if (b->rejected > 0)
            forget_key_fields(j, side, b);
        b->keys = b->fields + j->key_field[side];
        b->key_step = b->field_count;
    } else {
        make_keys(j, side, b);
        b->keys = b->made_keys;
        b->key_step = 1;
    }
    return hash_keys(j, side, b);
}

/* --- bodies --- */

static size_t room_to_pack(const struct batch *b)
{
    size_t room = 0;

    for (size_t i = 0; i < b->count; i++)
        if (b->rows[i].verdict == VERDICT_TAKE_PACKED)
            room += record_packed_room(b->fields + i * b->field_count, b->field_count);
    return room;
}

/* Where the key is a field it is from then on that of the body: so the record has it once. */
static void pack_rows(const struct judge *j, enum side side, struct batch *b)
{
    char *at;

    buf_clear(&b->body_texts);
    at = buf_reserve(&b->body_texts, room_to_pack(b)); /* bodies must not move */
    for (size_t i = 0; i < b->count; i++) {
        struct bytes *fields = b->fields + i * b->field_count;

        if (b->rows[i].verdict != VERDICT_TAKE_PACKED)
            continue;
        b->bodies[i].p = at;
        at = record_pack(fields, b->field_count, at);
        b->bodies[i].n = (size_t)(at - b->bodies[i].p);
        if (j->key_is_field[side])
            fields[j->key_field[side]] = record_packed_field(b->bodies[i], j->key_field[side]);
    }
}

/* --- all of it --- */

void judge_rows(const struct judge *j, enum side side, struct batch *b, int64_t clock_ms)
{
    if (j->plan->time == TIME_EVENT)
        judge_times(j, side, b, clock_ms);
    if (j->plan->side[side].where != NULL)
        judge_where(j, side, b);
    if (judge_keys(j, side, b))
        pack_rows(j, side, b);
    b->fetched = 0;
    b->judged = true;
}

struct record_parts judge_parts(const struct judge *j, const struct batch *b, size_t i,
                                uint64_t number, int64_t time)
{
    bool packed = b->rows[i].verdict == VERDICT_TAKE_PACKED;
    struct record_parts parts = {
        .body = packed ? b->bodies[i] : b->rows[i].line,
        .key = b->keys[i * b->key_step],
        .hash = b->hashes[i],
        .flags = j->flags | (packed ? RECORD_PACKED : 0),
        .time = time,
    };

    assert(b->judged && batch_takes(b, i));
    if (parts.key.p == NULL) { /* spread by their numbers */
        parts.flags |= RECORD_NULL_KEY;
        parts.hash = (uint32_t)hash_number(number);
    }
    return parts;
}
