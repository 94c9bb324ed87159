#include "join/pairing.h"

#include <assert.h>

#include "base/mem.h"

void pairing_init(struct pairing *p, const struct plan *plan, struct books *books)
{
    *p = (struct pairing){.plan = plan, .books = books};
    for (int s = 0; s < SIDES; s++)
        p->fields[s] = mem_alloc_zeroed(plan->side[s].form.field_count, sizeof(struct bytes));
    p->memory = expr_memory_new();
}

void pairing_done(struct pairing *p)
{
    mem_free(p->fields[SIDE_LEFT]);
    mem_free(p->fields[SIDE_RIGHT]);
    expr_memory_free(p->memory);
}

enum pairing_answer pairing_on(struct pairing *p, const struct record *l, const struct record *r)
{
    const struct plan *plan = p->plan;
    struct expr_input in = {
        .fields = {p->fields[SIDE_LEFT], p->fields[SIDE_RIGHT]},
        .window_start = EXPR_NO_WINDOW,
        .window_end = EXPR_NO_WINDOW,
        .memory = p->memory,
    };
    struct value v;

    if (plan->on == NULL)
        return PAIRING_YES;
    if (p->cut_left != l)
        record_fields(l, &plan->side[SIDE_LEFT].form, p->fields[SIDE_LEFT]);
    p->cut_left = l;
    record_fields(r, &plan->side[SIDE_RIGHT].form, p->fields[SIDE_RIGHT]);
    expr_memory_reset(p->memory);
    if (expr_evaluate(plan->on, &in, &v) != EXPR_OK)
        return PAIRING_FAILED;
    return !v.null && v.boolean ? PAIRING_YES : PAIRING_NO;
}

static void decide(struct record *r, uint64_t *held)
{
    assert(!record_has(r, RECORD_DECIDED));
    assert(*held > 0);
    r->size_flags |= RECORD_DECIDED;
    --*held;
}

void pairing_matched(struct books *books, enum side side, struct record *r, uint64_t *held)
{
    if (record_has(r, RECORD_MATCHED))
        return;
    decide(r, held);
    r->size_flags |= RECORD_MATCHED;
    record_fate(books, side, FATE_MATCHED, r);
}

void pairing_unmatched(struct books *books, enum side side, struct record *r, uint64_t *held)
{
    assert(!record_has(r, RECORD_MATCHED));
    decide(r, held);
    record_fate(books, side, FATE_UNMATCHED, r);
}
