/*
 * Panes of sliding windows, records put into them by hand, and the books beside.
 */
#ifndef UNIT_JOIN_PANES_FIXTURE_H
#define UNIT_JOIN_PANES_FIXTURE_H

#include "join/pane.h"
#include "join/window_walk.h"
#include "join_fixture.h"
#include "recount.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64
#define ANY_ROOM    UINT64_MAX

struct panes_fixture {
    struct plan *plan; /* owned */
    struct books books;
    struct slab_pool *pool;
    struct pane_list panes;
    struct record_parts last; /* that was put */
    struct pane *last_pane;
    char line[1024];
};

static inline void panes_open(struct panes_fixture *f, struct plan *plan)
{
    *f = (struct panes_fixture){.plan = plan, .pool = slab_pool_new()};
}

static inline void panes_close(struct panes_fixture *f)
{
    pane_list_done(&f->panes, f->pool);
    slab_pool_free(f->pool); /* all is back */
    plan_free(f->plan);
}

/* `bits`: of a pane that is not there yet. The line's first field is the key; "": NULL. */
static inline void panes_put(struct panes_fixture *f, enum side side, int64_t t, unsigned bits,
                             const char *line)
{
    size_t n = strlen(line);
    uint64_t number = f->books.side[side].received++;
    struct record_parts parts = {.body = {f->line, n}, .flags = RECORD_TIME32, .time = t};

    assert_true(n < sizeof(f->line));
    memcpy(f->line, line, n);
    parts.key = (struct bytes){f->line, (size_t)(strchr(line, ',') - line)};
    parts.hash = (uint32_t)(hash_bytes(parts.key.p, parts.key.n, 0) >> 32);
    if (parts.key.n == 0) {
        parts.key = BYTES_NULL;
        parts.flags |= RECORD_NULL_KEY;
        parts.hash = (uint32_t)hash_number(number);
    }
    f->last = parts;
    f->last_pane = pane_list_open(&f->panes, f->plan, t, &(struct pane_shape){.bits = bits});
    assert_true(window_log_append(&f->last_pane->side[side], f->pool, &parts, number, ANY_ROOM));
}

static inline struct pane *const *panes_of(const struct panes_fixture *f, int64_t start,
                                           int64_t end, size_t *ret_count)
{
    size_t from = pane_list_before(&f->panes, start);

    *ret_count = pane_list_before(&f->panes, end) - from;
    return f->panes.panes + f->panes.head + from;
}

/* No record is marked or linked: a walk or a probe is over, and was not here. */
static inline void assert_restored(const struct panes_fixture *f)
{
    for (size_t i = 0; i < f->panes.count; i++)
        for (int s = 0; s < SIDES; s++) {
            const struct window_log *l = &pane_list_at(&f->panes, i)->side[s];
            for (uint32_t p = 0; p < 1u << l->bits; p++)
                for (uint32_t c = 0; c < l->parts[p].count; c++)
                    for (uint32_t at = 0; at < log_chunk_used(&l->parts[p], c);) {
                        const struct record *r = log_chunk_record(l->parts[p].chunks[c], at);
                        uint64_t number = l->parts[p].chunks[c]->first_number + r->number;
                        struct bytes key = record_key(r);
                        assert_false(record_has(r, RECORD_PAIRED));
                        assert_int_equal(r->hash,
                                         record_has(r, RECORD_NULL_KEY)
                                             ? (uint32_t)hash_number(number)
                                             : (uint32_t)(hash_bytes(key.p, key.n, 0) >> 32));
                        at += (uint32_t)record_stride(r);
                    }
        }
}

static inline void assert_balance(const struct panes_fixture *f)
{
    for (int s = 0; s < SIDES; s++) {
        uint64_t held = 0;
        for (size_t i = 0; i < f->panes.count; i++) {
            const struct window_log *l = &pane_list_at(&f->panes, i)->side[s];
            assert_int_equal(log_recount(l), l->undecided);
            held += l->undecided;
        }
        assert_true(books_balance(&f->books.side[s], held));
    }
}

#endif
