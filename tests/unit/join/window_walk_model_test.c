/* Walks over random windows against nested loops. */
#include "window_walk_fixture.h"

#define MODEL_KEYS    6
#define MODEL_RECORDS 60
#define MODEL_GROUPS  (MODEL_KEYS + MODEL_RECORDS) /* each NULL key is one of its own */

struct model_record {
    enum side side;
    int key; /* 0: NULL */
    int ok;  /* false, true, NULL */
    bool matched;
};

struct model {
    struct model_record records[MODEL_RECORDS];
    struct buf expected[MODEL_GROUPS], told[MODEL_GROUPS];
    uint64_t matched[SIDES], unmatched[SIDES];
    int last_group;
    bool finished[MODEL_GROUPS];
};

static int model_group(const struct model *m, int record)
{
    int key = m->records[record].key;
    return key == 0 ? MODEL_KEYS + record : key - 1;
}

static bool model_match(const struct plan *p, const struct model_record *l,
                        const struct model_record *r)
{
    if (r->side != SIDE_RIGHT || l->key == 0 || l->key != r->key)
        return false;
    return p->on == NULL || (p->on->side == SIDE_LEFT ? l->ok : r->ok) == 1;
}

static void model_left(struct model *m, const struct plan *p, int l)
{
    struct buf *to = &m->expected[model_group(m, l)];
    struct model_record *left = &m->records[l];
    bool lone = p->type == JOIN_SEMI || p->type == JOIN_ANTI;

    for (int r = 0; r < MODEL_RECORDS && !(lone && left->matched); r++) {
        if (!model_match(p, left, &m->records[r]))
            continue;
        left->matched = m->records[r].matched = true;
        if (!lone)
            buf_printf(to, "(%d,%d)", l, r);
    }
    if (p->type == JOIN_SEMI && left->matched)
        buf_printf(to, "(%d)", l);
    if (p->type == JOIN_ANTI && !left->matched)
        buf_printf(to, "(%d)", l);
    if ((p->type == JOIN_LEFT || p->type == JOIN_FULL) && !left->matched)
        buf_printf(to, "(%d,null)", l);
}

static void model_expect(struct model *m, const struct plan *p)
{
    for (int l = 0; l < MODEL_RECORDS; l++)
        if (m->records[l].side == SIDE_LEFT)
            model_left(m, p, l);
    for (int i = 0; i < MODEL_RECORDS; i++) {
        const struct model_record *r = &m->records[i];
        if (r->matched)
            m->matched[r->side]++;
        else
            m->unmatched[r->side]++;
        if (r->side == SIDE_RIGHT && !r->matched && (p->type == JOIN_RIGHT || p->type == JOIN_FULL))
            buf_printf(&m->expected[model_group(m, i)], "(null,%d)", i);
    }
}

static void model_put(struct model *m, struct walk_fixture *f, uint64_t *seed)
{
    static const char *const oks[] = {"false", "true", ""};
    char line[64];

    for (int i = 0; i < MODEL_RECORDS; i++) {
        struct model_record *r = &m->records[i];
        *r = (struct model_record){
            .side = (enum side)dice(seed, 2),
            .key = (int)dice(seed, MODEL_KEYS + 1),
            .ok = (int)dice(seed, 3),
        };
        int n = r->key == 0 ? 0 : snprintf(line, sizeof(line), "%d", r->key);
        snprintf(line + n, sizeof(line) - (size_t)n, ",%d,%s", i, oks[r->ok]);
        /* Few hashes, so that they collide, also with that of another key. */
        put_hashed(f, r->side, line, (uint32_t)hash_number((uint64_t)(r->key / 2)));
    }
}

/* The results of a key come together. */
static void model_take(struct model *m, const struct plan *p, const struct result *r)
{
    enum side side = r->record[SIDE_LEFT] != NULL ? SIDE_LEFT : SIDE_RIGHT;
    int group = model_group(m, (int)number_of(p, side, r->record[side], 1));

    if (group != m->last_group && m->last_group >= 0)
        m->finished[m->last_group] = true;
    assert_false(m->finished[group]);
    m->last_group = group;
    append_result(p, r, &m->told[group]);
}

static void model_run(enum join_type type, const char *on, uint64_t seed)
{
    struct walk_fixture *f = open_walk(PLAN(.type = type, .on = on));
    struct model *m = mem_alloc_zeroed(1, sizeof(*m));
    uint64_t chance = seed * 1000003;

    m->last_group = -1;
    model_put(m, f, &chance);
    model_expect(m, f->plan);
    if (seed % 3 > 0)
        split(f, 4 * (seed % 3));
    begin(f);
    while (f->walk.under_way) {
        pull(f, 1 + dice(&chance, RESULTS_MAX), 1 + dice(&chance, 50));
        for (size_t i = 0; i < f->count; i++)
            model_take(m, f->plan, &f->results[i]);
    }
    for (int i = 0; i < MODEL_GROUPS; i++) {
        if (strcmp(buf_text(&m->told[i]), buf_text(&m->expected[i])) != 0)
            fail_msg("%s on %s, seed %" PRIu64 ": %s instead of %s", join_type_word(type),
                     on == NULL ? "true" : on, seed, buf_text(&m->told[i]),
                     buf_text(&m->expected[i]));
        buf_done(&m->told[i]);
        buf_done(&m->expected[i]);
    }
    for (int s = 0; s < SIDES; s++)
        assert_side(f, s, m->matched[s], m->unmatched[s]);
    mem_free(m);
    close_walk(f);
}

static void results_and_fates_are_those_of_nested_loops(void **state)
{
    static const char *const ons[] = {NULL, "left.ok", "right.ok"};

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int type = 0; type < JOIN_TYPES; type++)
            for (size_t on = 0; on < COUNT_OF(ons); on++)
                model_run((enum join_type)type, ons[on], seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_and_fates_are_those_of_nested_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
