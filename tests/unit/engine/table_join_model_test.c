/* Random joins of tables, against loops over lists of rows: the same results in the same order,
 * and the same books, however results are asked for. */
#include "table_join_fixture.h"

#define ROWS_MAX 400
#define KEYS     12
#define ROUNDS   400

struct model_row {
    int key; /* -1: NULL */
    unsigned id;
    bool ok, null_ok;
    bool matched;
};

struct model {
    const struct plan *plan;
    bool asks, fails; /* `on`: right.ok; 1 / right.id */
    bool filters;     /* where: ids that end in 3 do not take part on the right side */
    struct model_row rows[ROWS_MAX];
    size_t count;
    struct books_side side[SIDES];
    struct buf told;
};

static struct model_row random_row(uint64_t *seed, unsigned id)
{
    return (struct model_row){
        .key = (int)dice(seed, KEYS + 1) - 1,
        .id = id,
        .ok = dice(seed, 2) == 0,
        .null_ok = dice(seed, 4) == 0,
    };
}

static void write_line(const struct model_row *r, char *to, size_t size)
{
    char key[16] = "";

    if (r->key >= 0)
        snprintf(key, sizeof(key), "k%d", r->key);
    snprintf(to, size, "%s,%u,%s", key, r->id, r->null_ok ? "" : r->ok ? "true" : "false");
}

/* --- the model --- */

static void model_right(struct model *m, const struct model_row *r)
{
    struct books_side *books = &m->side[SIDE_RIGHT];

    books->received++;
    if (m->filters && r->id % 10 == 3) {
        books->filtered++;
        return;
    }
    if (r->key < 0 && !plan_pads(m->plan, SIDE_RIGHT)) {
        books->unmatched++;
        return;
    }
    if (m->plan->match == MATCH_LOOKUP && m->plan->duplicates == DUPLICATES_LAST) {
        for (size_t i = 0; i < m->count; i++) {
            if (m->rows[i].key == r->key) {
                books->unmatched++;
                m->rows[i] = *r;
                return;
            }
        }
    }
    m->rows[m->count++] = *r;
}

/* All that are there have met all that they could. */
static void model_close(struct model *m)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->rows[i].matched)
            m->side[SIDE_RIGHT].matched++;
        else
            m->side[SIDE_RIGHT].unmatched++;
    }
    m->count = 0;
}

static void model_pad(struct model *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (!m->rows[i].matched && plan_pads(m->plan, SIDE_RIGHT))
            buf_printf(&m->told, "(null,%u)", m->rows[i].id);
}

static bool model_meets(struct model *m, const struct model_row *l, const struct model_row *r)
{
    if (l->key < 0 || l->key != r->key)
        return false;
    if (m->fails && r->id % 5 == 0) {
        buf_printf(&m->told, "!(%u,%u)", l->id, r->id);
        return false;
    }
    return !m->asks || (r->ok && !r->null_ok);
}

static void model_left(struct model *m, const struct model_row *l)
{
    enum join_type type = m->plan->type;
    bool one_sided = type == JOIN_SEMI || type == JOIN_ANTI, any = false;

    for (size_t i = 0; i < m->count && !(any && one_sided); i++) {
        if (!model_meets(m, l, &m->rows[i]))
            continue;
        any = m->rows[i].matched = true;
        if (!one_sided)
            buf_printf(&m->told, "(%u,%u)", l->id, m->rows[i].id);
    }
    if ((type == JOIN_SEMI && any) || (type == JOIN_ANTI && !any))
        buf_printf(&m->told, "(%u)", l->id);
    if (!any && (type == JOIN_LEFT || type == JOIN_FULL))
        buf_printf(&m->told, "(%u,null)", l->id);
    m->side[SIDE_LEFT].received++;
    if (any)
        m->side[SIDE_LEFT].matched++;
    else
        m->side[SIDE_LEFT].unmatched++;
}

/* --- both --- */

static void add_rows(struct driven_join *j, struct model *m, enum side side, uint64_t *seed,
                     unsigned *id, unsigned max, char lines[][32])
{
    unsigned n = dice(seed, max + 1);

    for (unsigned i = 0; i < n; i++) {
        struct model_row r = random_row(seed, (*id)++);
        write_line(&r, lines[i], sizeof(lines[i]));
        add_line(j->f, side, bytes_of(lines[i]));
        if (side == SIDE_LEFT)
            model_left(m, &r);
        else
            model_right(m, &r);
    }
}

static void run_batch(struct driven_join *j, struct model *m, uint64_t *seed)
{
    static char lines[BATCH_ROWS][32];
    unsigned id = 1;

    for (unsigned i = dice(seed, 4); i-- > 0;) {
        add_rows(j, m, SIDE_RIGHT, seed, &id, 90, lines);
        push_batch(j, SIDE_RIGHT);
    }
    engine_end(j->f->engine, SIDE_RIGHT);
    for (unsigned i = dice(seed, 4); i-- > 0;) {
        add_rows(j, m, SIDE_LEFT, seed, &id, 250, lines);
        push_batch(j, SIDE_LEFT);
    }
}

static void run_lookup(struct driven_join *j, struct model *m, uint64_t *seed)
{
    static char lines[BATCH_ROWS][32];
    unsigned id = 1;

    for (unsigned i = dice(seed, 12); i-- > 0;) {
        if (dice(seed, 3) > 0) {
            add_rows(j, m, SIDE_LEFT, seed, &id, 60, lines);
            push_batch(j, SIDE_LEFT);
        } else {
            pull_all(j); /* else one that never answers touches no book */
            model_close(m);
            add_rows(j, m, SIDE_RIGHT, seed, &id, 60, lines);
            swap_in(j);
        }
    }
}

static struct plan *random_plan(struct model *m, uint64_t *seed)
{
    static const enum join_type lookup_types[] = {JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI};
    bool lookup = dice(seed, 2) == 0;
    struct join_words words = {
        .match = lookup ? MATCH_LOOKUP : MATCH_BATCH,
        .type = lookup ? lookup_types[dice(seed, 4)] : (enum join_type)dice(seed, JOIN_TYPES),
        .hash_seed = dice(seed, 1000),
        .keep_times = dice(seed, 2) == 0,
    };
    struct plan *plan;

    m->asks = dice(seed, 3) == 0;
    m->fails = !m->asks && dice(seed, 3) == 0;
    m->filters = dice(seed, 3) == 0;
    words.on = m->asks ? "right.ok" : m->fails ? "1 / (cast(right.id as bigint) % 5) >= 0" : NULL;
    words.where[SIDE_RIGHT] = m->filters ? "cast(id as bigint) % 10 <> 3" : NULL;
    plan = plan_of(&words);
    plan->duplicates = dice(seed, 2) == 0 ? DUPLICATES_LAST : DUPLICATES_KEEP;
    return plan;
}

static void assert_books(const struct driven_join *j, const struct model *m)
{
    for (int s = 0; s < SIDES; s++) {
        struct books_side b = books_of(j->f, s);
        assert_int_equal(b.received, m->side[s].received);
        assert_int_equal(b.filtered, m->side[s].filtered);
        assert_int_equal(b.matched, m->side[s].matched);
        assert_int_equal(b.unmatched, m->side[s].unmatched);
    }
}

static void run_round(uint64_t first_seed)
{
    struct model *m = mem_alloc_zeroed(1, sizeof(*m));
    uint64_t seed = first_seed;
    struct plan *plan = random_plan(m, &seed);
    struct pulling pulling = {
        .max = 1 + dice(&seed, RESULTS_MAX),
        .fuel = dice(&seed, 2) == 0 ? ALL_FUEL : 1 + dice(&seed, 500),
        .lazy = dice(&seed, 2) == 0,
    };
    struct driven_join *j = open_join(plan, pulling);

    m->plan = plan;
    if (plan->match == MATCH_BATCH)
        run_batch(j, m, &seed);
    else
        run_lookup(j, m, &seed);
    end_all(j);
    model_pad(m);
    model_close(m);
    if (strcmp(buf_text(&j->told), buf_text(&m->told)) != 0)
        fail_msg("seed %llu: \"%s\" is not \"%s\"", (unsigned long long)first_seed,
                 buf_text(&j->told), buf_text(&m->told));
    assert_books(j, m);
    close_join(j);
    buf_done(&m->told);
    mem_free(m);
}

static void random_joins_are_as_loops_over_lists_say(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++)
        run_round(round * 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_joins_are_as_loops_over_lists_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
