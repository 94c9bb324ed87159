/* Sessions that cost least, and what makes them cost more: nobody sees it but the memory. */
#include "session_join_fixture.h"

/* Sessions that are more than plain. */
static size_t mores(const struct session_fixture *f)
{
    const struct pieces *p = &f->join->pool.mores;
    size_t n = 0;

    for (uint32_t at = pieces_next(p, PIECES_NONE); at != PIECES_NONE; at = pieces_next(p, at))
        n++;
    return n;
}

/* Words of a side, a key, a time and an id: "Lk10a Rk5x". */
static void push_words(struct session_fixture *f, const char *words)
{
    for (const char *at = words; at != NULL; at = strchr(at, ' ')) {
        char line[16], side, key, id;
        int64_t t;
        at += *at == ' ';
        assert_int_equal(sscanf(at, "%c%c%" SCNd64 "%c", &side, &key, &t, &id), 4);
        snprintf(line, sizeof(line), "%.*s,%c,,", key != '0', &key, id);
        push(f, side == 'L' ? SIDE_LEFT : SIDE_RIGHT, t, line);
    }
}

static void what_makes_a_session_more_than_plain(void **state)
{
    static const struct {
        const char *records; /* the gap is 100; key 0 is NULL */
        size_t mores;
        const char *told;
    } rows[] = {
        {"Lk0a Lk10b Rk20x Rk30y", 0, "[0,130)(a,x)(a,y)(b,x)(b,y)"},
        {"Lk50a Rk10x Lk60b Rk20y", 0, "[10,160)(a,x)(a,y)(b,x)(b,y)"}, /* each side in order */
        {"Lk50a Rk60x Lk55b", 0, "[50,160)(a,x)(b,x)"},
        {"Lk50a Rk60x Lk50b", 0, "[50,160)(a,x)(b,x)"},
        {"Lk10a Rk60x Lk50b Lk20c", 0, "[10,160)(a,x)(b,x)(c,x)"}, /* between the ends */
        {"Lk50a Lk49b", 1, "[49,150)(a,null)(b,null)"},
        {"Lk50a Rk60x Lk49b", 1, "[49,160)(a,x)(b,x)"},
        {"Lk10a Rk20x Lk60b Lk30c", 1, "[10,160)(a,x)(b,x)(c,x)"},
        {"Lk10a Rk20x Lk60b Lk30c Rk70y Lk5d", 1,
         "[5,170)(a,x)(a,y)(b,x)(b,y)(c,x)(c,y)(d,x)(d,y)"},
        {"Lk0a Ll500b Rm900x", 0, "[0,100)(a,null)[500,600)(b,null)[900,1000)(null,x)"},
        {"L00a L0500b R0900x", 0, "[0,100)(a,null)[500,600)(b,null)[900,1000)(null,x)"},
        {"Lk0a Rk101x", 2, "[0,100)(a,null)[101,201)(null,x)"},
        {"Lk500a Rk101x Lk0b", 3, "[0,100)(b,null)[101,201)(null,x)[500,600)(a,null)"},
        {"Lk0a Lk200b Rk100x", 2, "[0,300)(a,x)(b,x)"}, /* one is a part */
        {"Lk0a Lk200b Rk100x Lk300c Rk150y Lk400d", 2,
         "[0,500)(a,x)(a,y)(b,x)(b,y)(c,x)(c,y)(d,x)(d,y)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));
        push_words(f, rows[i].records);
        assert_row(mores(f) == rows[i].mores, rows[i].records);
        assert_row(strcmp(end(f), rows[i].told) == 0, rows[i].told);
        assert_empty(f);
        close_session(f);
    }
}

static void a_key_begins_plain_again_when_its_sessions_are_over(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    push_words(f, "Lk0a Lk500b");
    advance(f, 600);
    push_words(f, "Rk601x"); /* nobody has walked the two yet */
    assert_int_equal(mores(f), 2);
    assert_string_equal(drain(f), "[0,100)(a,null)[500,600)(b,null)");
    assert_int_equal(mores(f), 0);
    push_words(f, "Lk650c");
    assert_string_equal(end(f), "[601,750)(c,x)");
    assert_empty(f);
    close_session(f);
}

static void a_flush_parts_plain_sessions_from_what_comes_after_it(void **state)
{
    struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));

    (void)state;
    push_words(f, "Lk0a Rk10x Ll50b Ll40c");
    op->flush(f->join);
    push_words(f, "Lk20d Rl45y");
    assert_int_equal(mores(f), 1);
    op->flush(f->join); /* by their old ends some wait still */
    assert_string_equal(drain(f), "[0,110)(a,x)[20,120)(d,null)[45,145)(null,y)"
                                  "[40,150)(b,null)(c,null)");
    assert_empty(f);
    close_session(f);
}

static uint64_t cost(uint64_t keys, int records_a_side, bool both)
{
    struct session_fixture *f = open_session(EVENT_PLAN());
    uint64_t bytes;
    char line[64];

    for (int i = 0; i < records_a_side; i++)
        for (uint64_t key = 0; key < keys; key++)
            for (int side = 0; side < 1 + both; side++) {
                int n = snprintf(line, sizeof(line), "%07" PRIu64 ",%d,,", key, i);
                assert_int_equal(push_line(f, (enum side)side, 0, (struct bytes){line, (size_t)n}),
                                 PUSH_ALL);
            }
    assert_int_equal(mores(f), 0);
    bytes = op->state_bytes(f->join) - f->join->records[SIDE_LEFT].live_bytes -
            f->join->records[SIDE_RIGHT].live_bytes;
    close_session(f);
    return bytes;
}

/* Its entry, a bucket, and what chunks of records have at their ends. */
static void a_plain_session_costs_33_bytes_beside_its_records(void **state)
{
    enum { KEYS = 50000 };

    (void)state;
    assert_in_range(cost(KEYS, 1, false), 32 * KEYS, 34 * KEYS);
    assert_in_range(cost(KEYS, 1, true), 32 * KEYS, 36 * KEYS);
    assert_in_range(cost(KEYS, 2, true), 32 * KEYS, 38 * KEYS);
}

/* A session that lasts for longer than 32 bits of milliseconds can tell. */
static void a_plain_session_has_its_times_after_months(void **state)
{
    struct session_fixture *f =
        open_session(PLAN(.match = MATCH_SESSION, .type = JOIN_FULL, .time = TIME_EVENT,
                          .gap_ms = INT64_C(1) << 34, .fields = {SESSION_FIELDS, SESSION_FIELDS}));
    char told[128];

    (void)state;
    push(f, SIDE_LEFT, 1, "k,a,,");
    for (int64_t t = 0; t < INT64_C(1) << 34; t += INT64_C(1) << 29)
        push(f, (enum side)(t >> 29 & 1), t, "l,b,,");
    push(f, SIDE_RIGHT, INT64_C(1) << 34, "k,x,,");
    push(f, SIDE_RIGHT, (INT64_C(1) << 35) + 2, "k,y,,"); /* is too late for it by 2 */
    advance(f, INT64_C(1) << 35);
    snprintf(told, sizeof(told), "[1,%" PRId64 ")(a,x)", INT64_C(1) << 35);
    assert_non_null(strstr(drain(f), told));
    close_session(f);
}

/* --- the limit --- */

struct step {
    enum side side;
    int64_t t;
    char line[16];
};

/* Times up and down; of few keys, which have many sessions, or of many, which have one each. */
static struct step step_of(uint64_t *chance, int i, bool few)
{
    int64_t t = few ? 10 * i + dice(chance, 500) : i + dice(chance, 90);
    int key = few ? (int)dice(chance, 20) : i / 3 + (int)dice(chance, 2);
    struct step s = {.side = (enum side)dice(chance, 2), .t = t};

    snprintf(s.line, sizeof(s.line), "%d,%c,,", key, 'a' + i % 26);
    return s;
}

/* With room for so much: it is refused, and nothing has changed, or no limit is exceeded. */
static void push_into_little_room(struct session_fixture *f, const struct step *s)
{
    uint64_t before = op->state_bytes(f->join), count = f->join->pool.count;
    size_t more = mores(f);
    enum push_stop stop = PUSH_FULL;

    for (uint64_t room = 0; stop == PUSH_FULL; room += 32) {
        f->state_bytes_max = before + room;
        stop = push_line(f, s->side, s->t, bytes_of(s->line));
        assert_sound(f);
        if (stop == PUSH_FULL) {
            assert_int_equal(op->state_bytes(f->join), before);
            assert_int_equal(f->join->pool.count, count);
            assert_int_equal(mores(f), more);
        }
    }
    assert_int_equal(stop, PUSH_ALL);
    assert_true(count == 0 || op->state_bytes(f->join) <= f->state_bytes_max);
}

static void whatever_a_record_needs_it_has_no_more_than_there_is(void **state)
{
    enum { STEPS = 1500 };

    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct session_fixture *f = open_session(EVENT_PLAN(.type = JOIN_FULL));
        struct session_fixture *free = open_session(EVENT_PLAN(.type = JOIN_FULL));
        uint64_t chance = seed * 1000003;
        for (int i = 0; i < STEPS; i++) {
            struct step s = step_of(&chance, i, seed % 2 == 0);
            push_into_little_room(f, &s);
            push(free, s.side, s.t, s.line);
        }
        assert_true(mores(f) > 100);
        assert_string_equal(end(f), end(free));
        assert_empty(f);
        close_session(f);
        close_session(free);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_a_session_more_than_plain),
        cmocka_unit_test(a_key_begins_plain_again_when_its_sessions_are_over),
        cmocka_unit_test(a_flush_parts_plain_sessions_from_what_comes_after_it),
        cmocka_unit_test(a_plain_session_costs_33_bytes_beside_its_records),
        cmocka_unit_test(a_plain_session_has_its_times_after_months),
        cmocka_unit_test(whatever_a_record_needs_it_has_no_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
