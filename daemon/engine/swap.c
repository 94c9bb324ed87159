/* The tables of a lookup: see engine/engine.h. */
#include "engine/inner.h"
#include "join/table_join.h"

/* A row of a table, judged, costs so much to be put in. */
#define TABLE_ROW_FUEL 10

struct lookup_table *engine_table_new(struct engine *e)
{
    return table_join_begin(e->self);
}

static bool table_take(struct engine *e, struct lookup_table *t, const struct record_parts *parts,
                       struct batch *b, struct row *row, struct buf *fault)
{
    switch (table_join_add(e->self, t, parts)) {
    case LOOKUP_TAKEN:
        t->received++;
        return true;
    case LOOKUP_FULL:
        buf_printf(fault, "the table does not fit into state.memory (%llu bytes)",
                   (unsigned long long)e->state_bytes_max);
        break;
    case LOOKUP_DUPLICATE:
        batch_reject(b, row, REJECT_DUPLICATE, "a row with this key is there already");
        buf_append_text(fault, batch_detail(b, row));
        break;
    }
    return false;
}

/* False: a fault. */
static bool table_add_row(struct engine *e, struct lookup_table *t, struct batch *b, size_t i,
                          struct buf *fault)
{
    struct record_parts parts;

    switch ((enum verdict)b->rows[i].verdict) {
    case VERDICT_TAKE:
    case VERDICT_TAKE_PACKED:
        parts = judge_parts(&e->judge, b, i, t->received, e->reached.ms);
        return table_take(e, t, &parts, b, &b->rows[i], fault);
    case VERDICT_REJECTED:
        buf_append_text(fault, batch_detail(b, &b->rows[i]));
        return false;
    case VERDICT_FILTERED:
        t->filtered++;
        break;
    case VERDICT_UNMATCHED:
        t->unmatched++;
        break;
    }
    t->received++;
    return true;
}

/* What the next rows will touch, before the first of them is put in. */
static void fetch_some(const struct lookup_table *t, struct batch *b, size_t from)
{
    size_t n = b->count - from < OPERATOR_FETCH ? b->count - from : OPERATOR_FETCH;

    if (from < b->fetched)
        return;
    table_join_fetch(t, &b->hashes[from], n);
    b->fetched = from + n;
}

size_t engine_table_add(struct engine *e, struct lookup_table *t, struct batch *b, size_t from,
                        int64_t *fuel, struct buf *fault)
{
    size_t i = from;

    if (!b->judged)
        judge_rows(&e->judge, SIDE_RIGHT, b, e->clock.ms);
    while (i<b->count && * fuel> 0) {
        fetch_some(t, b, i);
        if (!table_add_row(e, t, b, i, fault))
            break;
        *fuel -= TABLE_ROW_FUEL;
        i++;
    }
    return i - from;
}

void engine_table_swap(struct engine *e, struct lookup_table *t, struct stream_time now)
{
    engine_advance(e, now);
    table_join_swap(e->self, t, e->reached); /* which never goes back */
}

void engine_table_drop(struct engine *e, struct lookup_table *t)
{
    table_join_give_up(e->self, t);
}
