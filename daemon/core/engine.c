#include "core/engine.h"

#include <assert.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hash_inline.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/slab.h"
#include "core/operator.h"

/* Parts of a key are joined by what no record can contain. */
#define KEY_SEPARATOR '\0'
/* So many records are hashed, then stored: what storing touches is fetched meanwhile. */
#define PLAIN_GROUP 16

struct engine {
    const struct plan *plan;
    const struct operator* operator;
    void *self; /* the operator's; owned */
    struct books books;
    struct slab_pool *pool;
    struct stream_time reached;
    uint64_t state_bytes_max;
    size_t key_field[SIDES]; /* see key_field(); 0 where there is none */
    bool key_is_field[SIDES];
    bool plain[SIDES]; /* the key is that field, and no `where` */
    bool ended[SIDES];
    bool full;            /* a push was refused, and not enough was freed since */
    uint64_t full_bytes;  /* of state, at that moment */
    struct buf key, body; /* of the record that is being pushed */
};

static const struct operator* operator_for(const struct plan *plan)
{
    switch (plan->match) {
    case MATCH_TUMBLING:
        return &operator_window;
    case MATCH_SLIDING:
    case MATCH_SESSION:
    case MATCH_INTERVAL:
    case MATCH_LATEST:
    case MATCH_LOOKUP:
    case MATCH_BATCH:
        break;
    }
    assert(!"config refuses what is not in this version");
    return NULL;
}

/* Is the key one field as it stands? Else it has to be built. */
static bool key_field(const struct plan_side *p, size_t *ret)
{
    if (p->key.count != 1 || p->key_as_double[0] || p->key.items[0].expr->kind != EXPR_FIELD)
        return false;
    *ret = p->key.items[0].expr->field;
    return true;
}

struct engine *engine_new(const struct plan *plan)
{
    struct engine *e = mem_alloc_zeroed(1, sizeof(*e));

    e->plan = plan;
    e->state_bytes_max = plan->state_bytes_max;
    e->pool = slab_pool_new();
    e->reached = STREAM_TIME_MIN;
    for (int s = 0; s < SIDES; s++) {
        e->key_is_field[s] = key_field(&plan->side[s], &e->key_field[s]);
        e->plain[s] = e->key_is_field[s] && plan->side[s].where == NULL;
    }
    buf_init(&e->key);
    buf_init(&e->body);
    e->operator= operator_for(plan);
    e->self = e->operator->create(&(struct operator_context){
        .plan = plan,
        .books = &e->books,
        .pool = e->pool,
        .state_bytes_max = &e->state_bytes_max,
    });
    return e;
}

void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    e->operator->destroy(e->self);
    slab_pool_free(e->pool);
    buf_done(&e->key);
    buf_done(&e->body);
    mem_free(e);
}

/* --- judging a record --- */

enum verdict { VERDICT_HOLD, VERDICT_REJECTED, VERDICT_FILTERED, VERDICT_UNMATCHED };

static void append_as_double(struct buf *key, const struct value *v)
{
    double number = v->type == TYPE_BIGINT ? (double)v->bigint : v->real;

    if (number == 0)
        number = 0; /* -0 = 0 */
    buf_advance(key, number_write_double(number, buf_reserve(key, NUMBER_TEXT_MAX)));
}

static void append_text(struct buf *key, const struct expr *e, const struct bytes *fields,
                        const struct value *v)
{
    if (e->kind == EXPR_FIELD)
        buf_append_bytes(key, fields[e->field]); /* canonical: equal values, equal bytes */
    else
        buf_append_bytes(key, v->text);
}

/* Builds the key of several parts, or of one that is compared as a double. */
static enum verdict key_build(struct engine *e, enum side side, const struct bytes *fields,
                              struct bytes *ret)
{
    const struct plan_side *p = &e->plan->side[side];
    struct expr_input in = {0};

    in.fields[side] = fields;
    buf_clear(&e->key);
    for (size_t i = 0; i < p->key.count; i++) {
        struct value v;
        if (expr_evaluate(p->key.items[i].expr, &in, &v) != EXPR_OK)
            return VERDICT_REJECTED;
        if (v.null) {
            *ret = BYTES_NULL;
            return VERDICT_HOLD;
        }
        if (i > 0)
            buf_append_char(&e->key, KEY_SEPARATOR);
        if (p->key_as_double[i])
            append_as_double(&e->key, &v);
        else
            append_text(&e->key, p->key.items[i].expr, fields, &v);
    }
    buf_reserve(&e->key, 1); /* an empty key is not a NULL one */
    *ret = buf_bytes(&e->key);
    return VERDICT_HOLD;
}

static inline enum verdict key_of(struct engine *e, enum side side, const struct bytes *fields,
                                  struct bytes *ret)
{
    if (!e->key_is_field[side])
        return key_build(e, side, fields, ret);
    *ret = fields[e->key_field[side]];
    return VERDICT_HOLD;
}

static enum verdict where_says(const struct plan_side *p, enum side side,
                               const struct bytes *fields)
{
    struct expr_input in = {0};
    struct value v;

    if (p->where == NULL)
        return VERDICT_HOLD;
    in.fields[side] = fields;
    if (expr_evaluate(p->where, &in, &v) != EXPR_OK)
        return VERDICT_REJECTED;
    return !v.null && v.boolean ? VERDICT_HOLD : VERDICT_FILTERED;
}

static uint32_t hash_key(const struct engine *e, struct bytes key)
{
    return (uint32_t)(hash_bytes_inline(key.p, key.n, e->plan->hash_seed) >> 32);
}

/* What is to become of a row that decoded well; with HOLD, what is to be stored. */
static enum verdict judge(struct engine *e, enum side side, const struct batch *b,
                          const struct row *row, struct record_parts *ret)
{
    const struct plan_side *p = &e->plan->side[side];
    const struct bytes *fields = batch_row_fields(b, row);
    enum verdict verdict = where_says(p, side, fields);

    if (verdict == VERDICT_HOLD)
        verdict = key_of(e, side, fields, &ret->key);
    if (verdict != VERDICT_HOLD)
        return verdict;
    if (ret->key.p == NULL && !plan_pads(e->plan, side))
        return VERDICT_UNMATCHED;

    ret->body = row->line;
    ret->flags = 0;
    if (!row->verbatim) {
        buf_clear(&e->body);
        record_pack(fields, b->field_count, &e->body);
        ret->body = buf_bytes(&e->body);
        ret->flags |= RECORD_PACKED;
    }
    if (ret->key.p == NULL) {
        ret->flags |= RECORD_NULL_KEY;
        ret->hash = (uint32_t)hash_number(e->books.side[side].received);
    } else {
        ret->hash = hash_key(e, ret->key);
    }
    return VERDICT_HOLD;
}

/* --- in --- */

void engine_advance(struct engine *e, struct stream_time now)
{
    if (!stream_time_reached(now, e->reached))
        return;
    e->reached = now;
    e->operator->advance(e->self, now);
}

/* False: it does not fit; nothing is counted. */
static bool push_row(struct engine *e, enum side side, struct batch *b, struct row *row)
{
    struct books_side *books = &e->books.side[side];
    struct record_parts parts;

    if (row->reject != REJECT_NONE) {
        books->rejected++;
        books->received++;
        return true;
    }
    switch (judge(e, side, b, row, &parts)) {
    case VERDICT_HOLD:
        if (e->operator->push(e->self, side, &parts, 1, books->received, e->reached) == 0)
            return false;
        break;
    case VERDICT_REJECTED:
        batch_reject(b, row, REJECT_EXPRESSION, "where or key cannot be computed");
        books->rejected++;
        break;
    case VERDICT_FILTERED:
        books->filtered++;
        break;
    case VERDICT_UNMATCHED:
        books->unmatched++;
        break;
    }
    books->received++;
    return true;
}

/* Verbatim lines whose key is one of their fields, with nothing to ask: what most are.
 * Gathers those that stand together. */
static size_t gather_plain(const struct engine *e, enum side side, const struct batch *b,
                           size_t from, struct record_parts *ret)
{
    size_t n = 0;

    for (; n < PLAIN_GROUP && from + n < b->count; n++) {
        const struct row *row = &b->rows[from + n];
        const struct bytes *key = batch_row_fields(b, row) + e->key_field[side];
        if (row->reject != REJECT_NONE || !row->verbatim || key->p == NULL)
            break;
        ret[n].body = row->line;
        ret[n].key = *key;
        ret[n].flags = 0;
        ret[n].hash = hash_key(e, *key);
    }
    return n;
}

/* False: some did not fit. */
static bool push_plain(struct engine *e, enum side side, const struct record_parts *parts, size_t n,
                       size_t *at)
{
    struct books_side *books = &e->books.side[side];
    size_t taken = e->operator->push(e->self, side, parts, n, books->received, e->reached);

    books->received += taken;
    *at += taken;
    return taken == n;
}

size_t engine_push(struct engine *e, enum side side, struct batch *b, size_t from,
                   struct stream_time now)
{
    struct record_parts parts[PLAIN_GROUP];
    size_t i = from;
    bool fits = true;

    assert(!e->ended[side]);
    engine_advance(e, now);
    while (i < b->count && fits) {
        size_t n = e->plain[side] ? gather_plain(e, side, b, i, parts) : 0;
        if (n > 0) {
            fits = push_plain(e, side, parts, n, &i);
        } else {
            fits = push_row(e, side, b, &b->rows[i]);
            i += fits;
        }
    }
    if (from < b->count) {
        e->full = i < b->count;
        e->full_bytes = e->operator->state_bytes(e->self);
    }
    return i - from;
}

bool engine_takes(const struct engine *e)
{
    return !e->full;
}

void engine_flush(struct engine *e)
{
    e->operator->flush(e->self);
}

void engine_lift_limit(struct engine *e)
{
    e->state_bytes_max = UINT64_MAX;
    e->full = false;
}

void engine_end(struct engine *e, enum side side)
{
    e->ended[side] = true;
    if (e->ended[side_other(side)])
        engine_advance(e, STREAM_TIME_MAX);
}

/* --- out --- */

/* Full at the limit, not full any more at 15/16 of it, or when all that was due is
 * gone: else each freed chunk would wake the inputs for a handful of records. */
static bool has_room_again(const struct engine *e)
{
    uint64_t bytes = e->operator->state_bytes(e->self), max = e->state_bytes_max;

    return bytes < e->full_bytes && (bytes <= max - max / 16 || !e->operator->has_work(e->self));
}

size_t engine_pull(struct engine *e, struct result *ret, size_t max, int64_t *fuel)
{
    size_t n = e->operator->pull(e->self, ret, max, fuel);

    for (size_t i = 0; i < n; i++)
        e->books.results[ret[i].kind]++;
    if (e->full)
        e->full = !has_room_again(e);
    return n;
}

bool engine_has_work(const struct engine *e)
{
    return e->operator->has_work(e->self);
}

struct stream_time engine_due(const struct engine *e)
{
    return e->operator->due(e->self);
}

void engine_reject_result(struct engine *e, const struct result *r)
{
    e->books.results[r->kind]--;
    e->books.results_rejected++;
}

/* --- what it knows --- */

const struct books *engine_books(const struct engine *e)
{
    return &e->books;
}

uint64_t engine_held(const struct engine *e, enum side side)
{
    return e->operator->held(e->self, side);
}

uint64_t engine_state_bytes(const struct engine *e)
{
    return e->operator->state_bytes(e->self);
}

struct stream_time engine_time(const struct engine *e)
{
    return e->reached;
}

bool engine_books_balance(const struct engine *e)
{
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = e->operator->held(e->self, (enum side)s);
        if (held != e->operator->held_recount(e->self, (enum side)s) ||
            !books_balance(&e->books.side[s], held))
            return false;
    }
    return true;
}

uint64_t engine_mapped_bytes(const struct engine *e)
{
    return slab_mapped(e->pool);
}

void engine_trim(struct engine *e)
{
    slab_trim(e->pool, ENGINE_TRIM_KEEP);
}

void *engine_operator_state(struct engine *e)
{
    return e->self;
}
