/*
 * The two operators of the latest-value join alone, with what the engine would give them,
 * and scripts for them:
 *
 *     R 100 k x; L 150 k a; wm 200; EOI
 *
 * A record has a time, a key (null: NULL), an id, and what `ok` and `n` are to be. Time goes
 * on as the engine would have it: in processing time with each record, or as `at` says; in
 * event time to the lower of the two sides' highest times, less `delay` and one, or as `wm`
 * says. What comes is told as it comes; a record that is late altogether as late(id).
 */
#ifndef UNIT_JOIN_JOIN_LATEST_FIXTURE_H
#define UNIT_JOIN_JOIN_LATEST_FIXTURE_H

#include "join/as_of_join.h"
#include "join/latest_join.h"
#include "join_fixture.h"

#define ALL_FUEL    (INT64_C(1) << 40)
#define RESULTS_MAX 64

#define LATEST_FIELDS "k, id, ok boolean, n bigint, t timestamp_ms"

/* In processing time nothing waits and nothing is forgotten, unless it is said. */
struct latest_words {
    int64_t wait_ms, ttl_ms; /* 0: no ttl */
    struct join_words join;
};

/* How results are asked for. */
struct pulling {
    size_t max;   /* at a time */
    int64_t fuel; /* at a time */
    bool lazy;    /* only when a record has to wait, and at the end */
};
#define PULL_AT_ONCE ((struct pulling){RESULTS_MAX, ALL_FUEL, false})

struct latest_fixture {
    struct plan *plan; /* owned */
    const struct operator* op;
    struct books books;
    struct slab_pool *pool;
    uint64_t state_bytes_max;
    void *join; /* struct latest_join or as_of_join */
    int64_t time, own[SIDES], delay;
    struct pulling pulling;
    struct result last[RESULTS_MAX]; /* of the last pull: good until the next ... */
    size_t last_count;
    struct buf last_told; /* ... when they told this */
    struct buf told;
};

static inline struct latest_fixture *open_words(const struct latest_words *w)
{
    struct latest_fixture *f = mem_alloc_zeroed(1, sizeof(*f));
    struct join_words join = w->join;

    join.match = MATCH_LATEST;
    for (int s = 0; s < SIDES; s++)
        join.fields[s] = LATEST_FIELDS;
    f->plan = plan_of(&join);
    f->plan->wait_ms = w->wait_ms;
    f->plan->ttl_ms = w->ttl_ms == 0 ? PLAN_OFF : w->ttl_ms;
    f->op = f->plan->time == TIME_EVENT ? &operator_as_of : &operator_latest;
    f->pool = slab_pool_new();
    f->state_bytes_max = f->plan->state_bytes_max;
    f->join = f->op->create(&(struct operator_context){
        .plan = f->plan,
        .books = &f->books,
        .pool = f->pool,
        .state_bytes_max = &f->state_bytes_max,
    });
    f->time = f->own[SIDE_LEFT] = f->own[SIDE_RIGHT] = INT64_MIN;
    f->pulling = PULL_AT_ONCE;
    buf_init(&f->last_told);
    buf_init(&f->told);
    return f;
}

static inline void close_latest(struct latest_fixture *f)
{
    f->op->destroy(f->join);
    slab_pool_free(f->pool); /* all is back */
    plan_free(f->plan);
    buf_done(&f->last_told);
    buf_done(&f->told);
    mem_free(f);
}

/* --- what it says of itself --- */

static inline uint64_t table_directories(const struct keyed_table *t)
{
    return slots_bytes(&t->entries.slots) + t->buckets.capacity * sizeof(void *);
}

/* Chunks, pieces, pages are the pool's; beside them there are directories. */
static inline uint64_t state_by_hand(const struct latest_fixture *f)
{
    const struct as_of_join *as_of = f->op == &operator_as_of ? f->join : NULL;
    const struct latest_join *latest = f->op == &operator_latest ? f->join : NULL;
    const struct meeting *m = as_of != NULL ? &as_of->meeting : &latest->meeting;
    uint64_t bytes =
        slab_used(f->pool) + table_directories(as_of != NULL ? &as_of->keys : &latest->keys);

    for (int s = 0; s < SIDES; s++) {
        bytes += slots_bytes(&m->side[s].chunks);
        if (as_of != NULL)
            bytes += as_of->waiting[s].heap.items.capacity * sizeof(void *);
    }
    return bytes;
}

static inline void assert_books(const struct latest_fixture *f)
{
    for (int s = 0; s < SIDES; s++)
        assert_true(books_balance(&f->books.side[s], f->op->held(f->join, s)));
}

static inline void assert_sound(const struct latest_fixture *f)
{
    assert_int_equal(f->op->state_bytes(f->join), state_by_hand(f));
    for (int s = 0; s < SIDES; s++)
        assert_int_equal(operator_recount(f->op, f->join, s), f->op->held(f->join, s));
    assert_books(f);
}

static inline void assert_held(const struct latest_fixture *f, uint64_t left, uint64_t right)
{
    assert_int_equal(f->op->held(f->join, SIDE_LEFT), left);
    assert_int_equal(f->op->held(f->join, SIDE_RIGHT), right);
}

static inline void assert_fates(const struct latest_fixture *f, enum side side, uint64_t matched,
                                uint64_t unmatched)
{
    assert_int_equal(f->books.side[side].matched, matched);
    assert_int_equal(f->books.side[side].unmatched, unmatched);
}

/* Nothing is held, nothing waits. */
static inline void assert_empty(const struct latest_fixture *f)
{
    assert_int_equal(f->op->state_bytes(f->join), 0);
    assert_int_equal(slab_used(f->pool), 0);
    assert_int_equal(f->op->due(f->join).ms, INT64_MAX);
    assert_false(f->op->has_work(f->join));
}

/* --- out --- */

static inline void tell(const struct latest_fixture *f, const struct result *r, struct buf *to)
{
    assert_true(r->window_start == RESULT_NO_WINDOW && r->window_end == RESULT_NO_WINDOW);
    for (int s = 0; s < SIDES; s++)
        if (r->record[s] != NULL)
            assert_int_equal(r->time[s], record_time(r->record[s]));
    append_result(f->plan, r, to);
}

/* What the last pull gave is still there. */
static inline void assert_last_is_good(struct latest_fixture *f)
{
    struct buf again;

    buf_init(&again);
    for (size_t i = 0; i < f->last_count; i++)
        tell(f, &f->last[i], &again);
    assert_string_equal(buf_text(&again), buf_text(&f->last_told));
    buf_done(&again);
}

/* Without a word of it. */
static inline size_t pull_some(struct latest_fixture *f, int64_t *fuel)
{
    f->last_count = f->op->pull(f->join, f->last, f->pulling.max, fuel);
    assert_true(f->last_count <= f->pulling.max);
    buf_clear(&f->last_told);
    for (size_t i = 0; i < f->last_count; i++) {
        tell(f, &f->last[i], &f->last_told);
        if (f->last[i].kind == RESULT_FAILED)
            f->books.results_rejected++;
        else
            f->books.results[f->last[i].kind]++;
    }
    return f->last_count;
}

static inline void pull(struct latest_fixture *f)
{
    int64_t fuel = f->pulling.fuel;

    assert_last_is_good(f);
    if (pull_some(f, &fuel) == 0 && fuel == f->pulling.fuel)
        assert_false(f->op->has_work(f->join));
    buf_append_bytes(&f->told, buf_bytes(&f->last_told));
}

static inline void drain(struct latest_fixture *f)
{
    while (f->op->has_work(f->join)) {
        pull(f);
        assert_books(f);
    }
}

/* How many results came; what they were is not told. */
static inline uint64_t pull_all(struct latest_fixture *f)
{
    uint64_t results = 0;
    int64_t fuel = ALL_FUEL;

    while (f->op->has_work(f->join))
        results += pull_some(f, &fuel);
    return results;
}

/* --- in --- */

static inline void advance(struct latest_fixture *f, int64_t t)
{
    if (t <= f->time)
        return;
    f->time = t;
    f->op->advance(f->join, (struct stream_time){t});
    if (!f->pulling.lazy)
        drain(f);
}

static inline struct record_parts parts_of(const struct latest_fixture *f, enum side side,
                                           int64_t t, struct bytes line)
{
    struct bytes key = {line.p, (size_t)((char *)memchr(line.p, ',', line.n) - line.p)};
    struct record_parts parts = {.body = line, .flags = RECORD_TIMED, .time = t};

    if (f->plan->side[side].key.count == 0)
        key.n = 0;
    else if (key.n == 0)
        parts.flags |= RECORD_NULL_KEY;
    parts.hash = (uint32_t)(hash_bytes(key.p, key.n, f->plan->hash_seed) >> 32);
    parts.key = (parts.flags & RECORD_NULL_KEY) != 0 ? BYTES_NULL : key;
    return parts;
}

/* Without a pull. */
static inline enum push_stop push_line(struct latest_fixture *f, enum side side, int64_t t,
                                       struct bytes line)
{
    struct record_parts parts = parts_of(f, side, t, line);
    struct books_side *books = &f->books.side[side];
    size_t taken;
    enum push_stop stop = f->op->push(f->join, side, &parts, 1, books->received, &taken);

    assert_int_equal(taken, stop == PUSH_ALL);
    books->received += stop == PUSH_ALL || stop == PUSH_LATE;
    books->late += stop == PUSH_LATE;
    return stop;
}

/* Pulls what has to come first. */
static inline enum push_stop push(struct latest_fixture *f, enum side side, int64_t t,
                                  struct bytes line)
{
    enum push_stop stop;

    while ((stop = push_line(f, side, t, line)) == PUSH_WORK_FIRST) {
        assert_true(f->op->has_work(f->join));
        pull(f);
    }
    assert_last_is_good(f);
    if (!f->pulling.lazy)
        drain(f);
    return stop;
}

/* A line of `size` bytes under a numbered key, without a pull; its id is its time. */
static inline enum push_stop push_numbered(struct latest_fixture *f, enum side side, int64_t t,
                                           uint64_t key, size_t size)
{
    char line[1024];
    int n = snprintf(line, sizeof(line), "%" PRIu64 ",%" PRId64 ",,,", key, t);

    assert_true((size_t)n <= size && size < sizeof(line));
    memset(line + n, 'a', size - (size_t)n);
    return push_line(f, side, t, (struct bytes){line, size});
}

/* A record comes at `t`, or with that time; time goes on before it. */
static inline enum push_stop arrive(struct latest_fixture *f, enum side side, int64_t t,
                                    struct bytes line)
{
    int64_t *own = &f->own[side], other = f->own[side_other(side)];

    if (f->plan->time == TIME_EVENT) {
        *own = t - f->delay - 1 > *own ? t - f->delay - 1 : *own;
        advance(f, *own < other ? *own : other);
    } else {
        advance(f, t);
    }
    return push(f, side, t, line);
}

static inline void run_record(struct latest_fixture *f, const char *command)
{
    enum side side = command[0] == 'L' ? SIDE_LEFT : SIDE_RIGHT;
    char key[16], id[16], ok[16] = "", n[16] = "", line[96];
    int64_t t;

    assert_true(sscanf(command + 1, "%" SCNd64 " %15s %15s %15s %15s", &t, key, id, ok, n) >= 3);
    snprintf(line, sizeof(line), "%s,%s,%s,%s,", strcmp(key, "null") == 0 ? "" : key, id, ok, n);
    switch (arrive(f, side, t, bytes_of(line))) {
    case PUSH_ALL:
        break;
    case PUSH_LATE:
        buf_printf(&f->told, "late(%s)", id);
        break;
    default:
        fail_msg("%s is not taken", command);
    }
}

static inline void run_command(struct latest_fixture *f, const char *command)
{
    if (command[0] == 'L' || command[0] == 'R')
        run_record(f, command);
    else if (strncmp(command, "wm ", 3) == 0 || strncmp(command, "at ", 3) == 0)
        advance(f, strtoll(command + 3, NULL, 10));
    else if (strcmp(command, "EOI") == 0)
        advance(f, INT64_MAX);
    else if (strncmp(command, "delay ", 6) == 0)
        f->delay = strtoll(command + 6, NULL, 10);
    else if (strcmp(command, "flush") == 0)
        f->op->flush(f->join);
    else
        fail_msg("%s is no command", command);
    assert_sound(f);
}

/* Sets f->told, and returns it. */
static inline const char *run(struct latest_fixture *f, const char *script)
{
    char *copy = mem_strdup(script), *rest = copy, *command;

    buf_clear(&f->told);
    while ((command = strsep(&rest, ";")) != NULL)
        run_command(f, command + strspn(command, " "));
    drain(f);
    assert_sound(f);
    mem_free(copy);
    return buf_text(&f->told);
}

/* A right record whose key is the empty string, and then a left one whose key is NULL. */
static inline void assert_null_is_not_empty(struct latest_fixture *f)
{
    struct record_parts parts = parts_of(f, SIDE_RIGHT, 5, BYTES_LIT(",x,,,"));
    size_t taken;

    parts.flags = RECORD_TIMED;
    parts.key = (struct bytes){parts.body.p, 0};
    assert_int_equal(f->op->push(f->join, SIDE_RIGHT, &parts, 1, 0, &taken), PUSH_ALL);
    f->books.side[SIDE_RIGHT].received++;
    assert_string_equal(run(f, "L 5 null a; EOI"), "(a,null)");
}

/* --- tables of scripts --- */

/* A join in words (`left wait 5 ttl 10 nokey on right.ok`; in processing time it may wait
 * `forever`), a script, and what comes. */
struct script_row {
    const char *name, *join, *script, *expected;
};

static inline enum join_type type_of(const char *word)
{
    enum join_type t = 0;

    while (strcmp(join_type_word(t), word) != 0)
        t++;
    return t;
}

static inline int64_t number_after(const char *words, const char *word)
{
    const char *at = strstr(words, word);

    return at == NULL ? 0 : strtoll(at + strlen(word), NULL, 10);
}

static inline struct latest_fixture *open_row(enum time_kind time, const char *words)
{
    const char *on = strstr(words, " on ");
    const char *key = strstr(words, " nokey") != NULL ? "" : NULL;
    char type[16];

    assert_int_equal(sscanf(words, "%15s", type), 1);
    return open_words(&(struct latest_words){
        .wait_ms = strstr(words, " forever") != NULL ? PLAN_FOREVER : number_after(words, " wait "),
        .ttl_ms = number_after(words, " ttl "),
        .join = {.time = time,
                 .type = type_of(type),
                 .on = on == NULL ? NULL : on + 4,
                 .key = {key, key}},
    });
}

/* However it is pulled; late(id) stands where the record came. In the end nothing is left. */
static inline void assert_rows(enum time_kind time, const struct script_row *rows, size_t n)
{
    static const struct pulling patterns[] = {
        {RESULTS_MAX, ALL_FUEL, false}, {RESULTS_MAX, ALL_FUEL, true},
        {1, ALL_FUEL, false},           {1, ALL_FUEL, true},
        {RESULTS_MAX, 1, true},         {3, 25, true},
    };

    for (size_t i = 0; i < n * COUNT_OF(patterns); i++) {
        const struct script_row *row = &rows[i / COUNT_OF(patterns)];
        struct latest_fixture *f = open_row(time, row->join);
        f->pulling = patterns[i % COUNT_OF(patterns)];
        run(f, row->script);
        if (strcmp(buf_text(&f->told), row->expected) != 0)
            fail_msg("%s, pulled in way %zu: \"%s\" is not \"%s\"", row->name,
                     i % COUNT_OF(patterns), buf_text(&f->told), row->expected);
        advance(f, INT64_MAX);
        drain(f);
        assert_empty(f);
        assert_sound(f);
        close_latest(f);
    }
}

#endif
