#include "engine/judge.h"

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

/* Windows know to within their size when a record was. */
static uint16_t time_flag(const struct plan *plan)
{
    switch (plan->match) {
    case MATCH_TUMBLING:
    case MATCH_SLIDING:
        return plan->size_ms <= UINT32_MAX ? RECORD_TIME32 : RECORD_TIMED;
    case MATCH_SESSION:
    case MATCH_INTERVAL:
    case MATCH_LATEST:
        return RECORD_TIMED;
    case MATCH_LOOKUP:
    case MATCH_BATCH:
        break;
    }
    return plan->keep_times ? RECORD_TIMED : 0;
}

void judge_init(struct judge *j, const struct plan *plan)
{
    *j = (struct judge){.plan = plan, .memory = expr_memory_new()};
    for (int s = 0; s < SIDES; s++) {
        j->key_is_field[s] = key_field(&plan->side[s], &j->key_field[s]);
        j->plain[s] = j->key_is_field[s] && plan->side[s].where == NULL;
    }
    j->flags = time_flag(plan);
    buf_init(&j->key);
    buf_init(&j->body);
}

void judge_done(struct judge *j)
{
    buf_done(&j->key);
    buf_done(&j->body);
    expr_memory_free(j->memory);
}

static struct expr_input input_of(const struct judge *j, enum side side, const struct bytes *fields)
{
    struct expr_input in = {
        .window_start = EXPR_NO_WINDOW,
        .window_end = EXPR_NO_WINDOW,
        .memory = j->memory,
    };

    in.fields[side] = fields;
    return in;
}

/* Evaluates what `name` stands for. False: it failed, and the row is rejected. */
static bool ask(const struct judge *j, enum side side, const char *name, const struct expr *e,
                struct batch *b, struct row *row, struct value *ret)
{
    struct expr_input in = input_of(j, side, batch_row_fields(b, row));
    enum expr_outcome outcome = expr_evaluate(e, &in, ret);

    if (outcome == EXPR_OK)
        return true;
    batch_reject(b, row, REJECT_EXPRESSION, "%s: %s", name, expr_outcome_text(outcome));
    return false;
}

/* --- time --- */

static void reject_ahead(struct batch *b, struct row *row, int64_t ms, int64_t ahead_ms)
{
    struct buf text = BUF_EMPTY;

    time_append_rfc3339(ms, &text);
    buf_append_text(&text, " is ");
    duration_write(ahead_ms, &text);
    batch_reject(b, row, REJECT_TIMESTAMP,
                 "timestamp: %s ahead of the clock, which is further than max_ahead allows",
                 buf_text(&text));
    buf_done(&text);
}

/* NULL or unreadable: false, and rejected. */
static bool read_time(struct judge *j, enum side side, struct batch *b, struct row *row,
                      int64_t *ret_ms)
{
    const struct expr *e = j->plan->side[side].timestamp;
    const struct bytes *fields = batch_row_fields(b, row);
    struct value v = {.null = true};

    if (e->kind == EXPR_FIELD && fields[e->field].p != NULL) {
        *ret_ms =
            b->timed ? b->times[batch_row_index(b, row)] : value_time_ms(e->type, fields[e->field]);
        return true;
    }
    expr_memory_reset(j->memory);
    if (e->kind != EXPR_FIELD && !ask(j, side, "timestamp", e, b, row, &v))
        return false;
    if (v.null)
        batch_reject(b, row, REJECT_TIMESTAMP, "timestamp: it is NULL");
    else if (!value_instant_ms(e->type, &v, ret_ms))
        batch_reject(b, row, REJECT_TIMESTAMP, "timestamp: outside the years 0001 to 9999");
    return row->reject == REJECT_NONE;
}

bool judge_time(struct judge *j, enum side side, struct batch *b, struct row *row, int64_t now_ms,
                int64_t *ret_ms)
{
    int64_t max_ahead_ms = j->plan->side[side].max_ahead_ms, ms;

    if (!read_time(j, side, b, row, &ms))
        return false;
    if (max_ahead_ms != PLAN_OFF && ms - now_ms > max_ahead_ms) {
        reject_ahead(b, row, ms, ms - now_ms);
        return false;
    }
    *ret_ms = ms;
    return true;
}

/* --- where and key --- */

static enum verdict where_says(struct judge *j, enum side side, struct batch *b, struct row *row)
{
    const struct expr *where = j->plan->side[side].where;
    struct value v;

    if (where == NULL)
        return VERDICT_HOLD;
    expr_memory_reset(j->memory);
    if (!ask(j, side, "where", where, b, row, &v))
        return VERDICT_REJECTED;
    return !v.null && v.boolean ? VERDICT_HOLD : VERDICT_FILTERED;
}

static void append_as_double(struct buf *key, const struct value *v)
{
    double number = v->type == TYPE_BIGINT ? (double)v->bigint : v->real;

    if (number == 0)
        number = 0; /* -0 = 0 */
    buf_advance(key, number_write_double(number, buf_reserve(key, NUMBER_TEXT_MAX)));
}

/* Builds the key of several parts, of one that is computed, or compared as a double. */
static enum verdict key_build(struct judge *j, enum side side, struct batch *b, struct row *row,
                              struct bytes *ret)
{
    const struct plan_side *p = &j->plan->side[side];
    bool null = false;

    buf_clear(&j->key);
    expr_memory_reset(j->memory);
    for (size_t i = 0; i < p->key.count; i++) {
        struct value v;
        if (!ask(j, side, "key", p->key.items[i].expr, b, row, &v))
            return VERDICT_REJECTED;
        null |= v.null; /* all are asked: whether one fails is no matter of their order */
        if (null)
            continue;
        if (i > 0)
            buf_append_char(&j->key, KEY_SEPARATOR);
        if (p->key_as_double[i])
            append_as_double(&j->key, &v);
        else
            value_append(&v, &j->key); /* canonical: equal values, equal bytes */
    }
    buf_reserve(&j->key, 1); /* an empty key is not a NULL one */
    *ret = null ? BYTES_NULL : buf_bytes(&j->key);
    return VERDICT_HOLD;
}

static inline uint32_t hash_key(struct bytes key, uint64_t seed)
{
    return (uint32_t)(hash_bytes_inline(key.p, key.n, seed) >> 32);
}

/* Mostly no row of a batch is rejected: then none has to be looked at. */
static inline __attribute__((always_inline)) void
hash_rows(struct batch *b, size_t from, size_t to, size_t key_field, uint64_t seed, bool all_good)
{
    const size_t field_count = b->field_count;
    const struct bytes *key = b->fields + from * field_count + key_field;

    for (size_t i = from; i < to; i++, key += field_count) {
        bool there = (all_good || b->rows[i].reject == REJECT_NONE) && key->p != NULL;
        b->hashes[i] = there ? hash_key(*key, seed) : 0;
    }
}

size_t judge_hash(const struct judge *j, enum side side, struct batch *b, size_t from, size_t max)
{
    const size_t to = b->count - from < max ? b->count : from + max;

    if (b->rejected == 0)
        hash_rows(b, from, to, j->key_field[side], j->plan->hash_seed, true);
    else
        hash_rows(b, from, to, j->key_field[side], j->plan->hash_seed, false);
    b->hashed = to;
    return to - from;
}

/* Of a row of the batch. */
static uint32_t hash_row(const struct judge *j, const struct batch *b, const struct row *row,
                         struct bytes key)
{
    size_t i = batch_row_index(b, row);

    return i < b->hashed ? b->hashes[i] : hash_key(key, j->plan->hash_seed);
}

enum verdict judge_row(struct judge *j, enum side side, struct batch *b, struct row *row,
                       uint64_t salt, struct record_parts *ret)
{
    const struct bytes *fields = batch_row_fields(b, row);
    enum verdict verdict = where_says(j, side, b, row);

    if (verdict == VERDICT_HOLD && j->key_is_field[side])
        ret->key = fields[j->key_field[side]];
    else if (verdict == VERDICT_HOLD)
        verdict = key_build(j, side, b, row, &ret->key);
    if (verdict != VERDICT_HOLD)
        return verdict;
    if (ret->key.p == NULL && !plan_pads(j->plan, side))
        return VERDICT_UNMATCHED;

    ret->body = row->line;
    ret->flags = j->flags;
    if (!row->verbatim) {
        buf_clear(&j->body);
        record_pack(fields, b->field_count, &j->body);
        ret->body = buf_bytes(&j->body);
        ret->flags |= RECORD_PACKED;
    }
    if (ret->key.p == NULL) {
        ret->flags |= RECORD_NULL_KEY;
        ret->hash = (uint32_t)hash_number(salt);
    } else {
        ret->hash = hash_row(j, b, row, ret->key);
    }
    ret->stride = row->verbatim ? record_plain_stride(ret) : 0;
    return VERDICT_HOLD;
}

/* The parts, but for the time. False: it is another kind of row. */
static inline bool judge_plain_row(const struct judge *j, const struct batch *b,
                                   const struct row *row, const struct bytes *key,
                                   struct record_parts *ret)
{
    if (row->reject != REJECT_NONE || !row->verbatim || key->p == NULL)
        return false;
    ret->body = row->line;
    ret->key = *key;
    ret->flags = j->flags;
    ret->hash = hash_row(j, b, row, *key);
    ret->stride = record_plain_stride(ret);
    return true;
}

size_t judge_plain(const struct judge *j, enum side side, const struct batch *b, size_t from,
                   size_t max, struct record_parts *ret)
{
    size_t n = 0;

    for (; n < max && from + n < b->count; n++) {
        const struct row *row = &b->rows[from + n];
        if (!judge_plain_row(j, b, row, batch_row_fields(b, row) + j->key_field[side], &ret[n]))
            break;
    }
    return n;
}
