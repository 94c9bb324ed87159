#include "machine.h"

#include <assert.h>

#include "base/mem.h"
#include "config/reader.h"
#include "machine_parts.h"

#define PULLS_EACH 64
#define PLENTY     1000000 /* of fuel */

static void note(struct machine *m, struct machine_entry entry)
{
    bool kept = entry.what == TOLD_ROWS || entry.what == TOLD_END;
    if (m->config->plan->time == TIME_PROCESSING && !kept)
        return;
    entry.ended = entry.what == TOLD_END;
    entry.now_ms = m->now_ms;
    entry.mono_ms = m->mono_ms;
    m->log = list_room(m->log, m->log_count, &m->log_capacity, sizeof(*m->log));
    m->log[m->log_count++] = entry;
}

/* From now on; the engine looks at it when it is told the time next. */
static void count_idle_anew(struct machine *m)
{
    engine_count_idle_anew(m->engine, (struct mono_time){m->mono_ms});
    note(m, (struct machine_entry){.what = TOLD_ANEW});
    engine_watch(m->engine, (struct mono_time){m->mono_ms});
    note(m, (struct machine_entry){.what = TOLD_MONO});
}

/* --- made from the parts --- */

struct machine *machine_new(struct bytes ini, uint64_t hash_seed, struct diag *diag)
{
    struct config_source source = {
        .path = "scenario.ini",
        .text = ini,
        .current_directory = "/",
    };
    struct config *config = config_read(&source, diag);
    if (config == NULL)
        return NULL;
    config->plan->hash_seed = hash_seed;

    struct machine *m = mem_alloc_zeroed(1, sizeof(*m));
    m->config = config;
    m->engine = engine_new(config->plan);
    m->encoder = encoder_new(&config->output[OUTPUT_RESULTS].format, config->plan);
    m->pull_max = PULLS_EACH;
    m->pull_fuel = PLENTY;
    for (int s = 0; s < SIDES; s++) {
        batch_init(&m->feed[s].batch, config->plan->side[s].schema.count);
        if (config->input[s].endpoint.kind == ENDPOINT_FILE)
            engine_never_idle(m->engine, (enum side)s);
        if (s == SIDE_LEFT || config->plan->match != MATCH_LOOKUP)
            machine_open(m, (enum side)s, 0);
    }
    count_idle_anew(m);
    return m;
}

static void connection_done(struct machine_connection *c)
{
    decoder_free(c->decoder);
    buf_done(&c->bytes);
    *c = (struct machine_connection){0};
}

void machine_free(struct machine *m)
{
    if (m == NULL)
        return;
    for (int s = 0; s < SIDES; s++) {
        for (size_t i = 0; i < MACHINE_CONNECTIONS; i++) {
            struct machine_connection *c = &m->feed[s].connection[i];
            if (c->decoder != NULL)
                engine_feed_close(m->engine, &c->feed);
            connection_done(c);
        }
        batch_done(&m->feed[s].batch);
    }
    machine_forget_rows(m);
    machine_forget_lates(m, m->late_count);
    mem_free(m->rows);
    mem_free(m->rejects);
    mem_free(m->lates);
    mem_free(m->log);
    mem_free(m->fault);
    machine_drop(m);
    buf_done(&m->table.fault);
    encoder_free(m->encoder);
    aside_done(m);
    engine_free(m->engine);
    config_free(m->config);
    mem_free(m);
}

/* --- what is kept of what happens --- */

static void note_reject(struct machine *m, enum side side, enum reject why)
{
    m->rejects = list_room(m->rejects, m->reject_count, &m->reject_capacity, sizeof(*m->rejects));
    m->rejects[m->reject_count++] = (struct machine_reject){side, why};
}

static void note_late(struct machine *m, enum side side, const struct row *row)
{
    const char *detail = batch_detail(&m->feed[side].batch, row);
    if (*detail == '\0')
        break_promise(m, "%s: a late row without a word why", side_word(side));
    m->lates = list_room(m->lates, m->late_count, &m->late_capacity, sizeof(*m->lates));
    m->lates[m->late_count++] = (struct machine_late){
        .side = side,
        .line = mem_strndup(row->line.p, row->line.n),
        .detail = mem_strdup(detail),
    };
    m->late[side]++;
}

static void note_fates(struct machine *m, enum side side, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct row *row = &m->feed[side].batch.rows[i];
        if (row->reject != REJECT_NONE)
            note_reject(m, side, (enum reject)row->reject);
        if (row->late)
            note_late(m, side, row);
    }
}

static size_t connection_of(const struct machine *m, enum side side,
                            const struct machine_connection *c)
{
    return (size_t)(c - m->feed[side].connection);
}

/* --- rows go in --- */

static size_t push(struct machine *m, enum side side, struct machine_connection *c, size_t from)
{
    uint64_t allowed = state_allowed(m, side, c);
    struct batch *b = &m->feed[side].batch;
    size_t taken = engine_push(m->engine, side, b, from, (struct stream_time){m->now_ms});
    note(m, (struct machine_entry){.what = TOLD_ROWS,
                                   .side = side,
                                   .connection = connection_of(m, side, c),
                                   .rows = taken});
    note_fates(m, side, from, from + taken);
    if (allowed < state_allowed(m, side, c)) /* it may have come to hold time back by its row */
        allowed = state_allowed(m, side, c);
    look_at_state(m, allowed);
    look_at_books(m);
    return taken;
}

/* What it refuses once it refuses again. Only where state is full it may have found, by looking
 * further, a free place in what it has (store/arena): then it takes no byte more. */
static size_t push_refused(struct machine *m, enum side side, struct machine_connection *c,
                           size_t from)
{
    bool full = engine_holds(m->engine, side, &c->feed) == ENGINE_FULL;
    uint64_t before = engine_state_bytes(m->engine);
    size_t taken = push(m, side, c, from);
    if (taken > 0 && !(full && engine_state_bytes(m->engine) <= before))
        break_promise(m, "the engine took a row that it had just refused");
    return taken;
}

static void pull_what_comes_first(struct machine *m, enum side side,
                                  const struct machine_connection *c)
{
    struct result *results = mem_alloc(m->pull_max * sizeof(*results));
    while (engine_holds(m->engine, side, &c->feed) == ENGINE_RESULTS && m->fault == NULL) {
        if (!engine_has_work(m->engine))
            break_promise(m, "a row waits for results, and there is no work");
        machine_pull_into(m, results, m->pull_max, m->pull_fuel);
    }
    mem_free(results);
}

/* Returns how many rows of the batch were taken; c->hold says why not all. */
static size_t push_all(struct machine *m, enum side side, struct machine_connection *c)
{
    struct batch *b = &m->feed[side].batch;
    size_t at = 0, more;
    b->feed = &c->feed;
    for (;;) {
        if (at < b->count)
            at += push(m, side, c, at);
        c->hold = ENGINE_TAKES;
        if (at == b->count || m->fault != NULL)
            return at;
        look_at_refusal(m, side, c);
        more = push_refused(m, side, c, at);
        at += more;
        if (more > 0)
            continue;
        c->hold = engine_holds(m->engine, side, &c->feed);
        if (c->hold != ENGINE_RESULTS || m->by_hand)
            return at;
        pull_what_comes_first(m, side, c);
    }
}

/* Returns how many of the first `n` bytes of the connection are done with. */
static size_t take_some(struct machine *m, enum side side, struct machine_connection *c, size_t n)
{
    struct batch *b = &m->feed[side].batch;
    bool all = n == buf_length(&c->bytes);
    enum input_end end = c->closing && all ? INPUT_ENDED : INPUT_GOES_ON;
    size_t done = 0;
    while (m->fault == NULL) {
        size_t used = decoder_read(c->decoder, buf_data(&c->bytes) + done, n - done, end, b);
        size_t rows = b->count;
        size_t taken = rows == 0 ? 0 : push_all(m, side, c);
        if (taken < rows)
            return done + decoder_rewind(c->decoder, b, taken);
        done += used;
        if (used == 0 && rows == 0)
            break;
    }
    return done;
}

static void finish_connection(struct machine *m, enum side side, struct machine_connection *c)
{
    engine_feed_close(m->engine, &c->feed);
    note(m, (struct machine_entry){
                .what = TOLD_CLOSE, .side = side, .connection = connection_of(m, side, c)});
    connection_done(c);
    look_at_books(m);
}

/* The decoder is shown what waits, in pieces if so wished, and the engine its rows. */
static void take(struct machine *m, enum side side, struct machine_connection *c)
{
    if (m->feed[side].held)
        return;
    c->hold = ENGINE_TAKES;
    do {
        size_t length = buf_length(&c->bytes), more = c->shown + m->cut;
        c->shown = m->cut == 0 || more > length ? length : more;
        size_t done = take_some(m, side, c, c->shown);
        buf_eat(&c->bytes, done);
        c->shown -= done;
    } while (c->hold == ENGINE_TAKES && c->shown < buf_length(&c->bytes) && m->fault == NULL);
    if (c->closing && c->hold == ENGINE_TAKES && m->fault == NULL)
        finish_connection(m, side, c);
}

/* Returns whether that changed anything. */
static bool finish_side(struct machine *m, enum side side)
{
    struct machine_feed *f = &m->feed[side];
    for (size_t i = 0; i < MACHINE_CONNECTIONS; i++)
        if (f->connection[i].decoder != NULL)
            return false;
    if (!f->ending || f->ended)
        return false;
    f->ended = true;
    engine_end(m->engine, side);
    note(m, (struct machine_entry){.what = TOLD_END, .side = side});
    look_at_books(m);
    return true;
}

/* --- rows that wait --- */

static bool may_go_on(const struct machine *m, enum side side, const struct machine_connection *c)
{
    enum engine_hold hold = engine_holds(m->engine, side, &c->feed);
    return hold == ENGINE_TAKES || (hold == ENGINE_RESULTS && !m->by_hand);
}

/* Returns whether that changed anything. */
static bool try_connection(struct machine *m, enum side side, struct machine_connection *c)
{
    size_t before = buf_length(&c->bytes);
    if (c->hold == ENGINE_TAKES || m->feed[side].held || !may_go_on(m, side, c))
        return false;
    if (!m->by_hand)
        pull_what_comes_first(m, side, c);
    take(m, side, c);
    return c->hold == ENGINE_TAKES || buf_length(&c->bytes) < before;
}

static void set_unread(struct machine *m, enum side side, struct machine_connection *c, bool unread)
{
    if (c->feed.unread == unread)
        return;
    if (unread)
        engine_feed_unread(m->engine, &c->feed);
    else
        engine_feed_read(m->engine, &c->feed, true);
    note(m, (struct machine_entry){.what = TOLD_UNREAD,
                                   .side = side,
                                   .connection = connection_of(m, side, c),
                                   .unread = unread});
}

/* Who waits is not idle; when it has to wait no more, its idle time counts anew. */
static void note_holds(struct machine *m)
{
    for (int s = 0; s < SIDES; s++)
        for (size_t i = 0; i < MACHINE_CONNECTIONS; i++) {
            struct machine_connection *c = &m->feed[s].connection[i];
            bool waits = c->hold != ENGINE_TAKES || m->feed[s].held;
            if (c->decoder != NULL)
                set_unread(m, (enum side)s, c, waits);
        }
}

void machine_try_again(struct machine *m)
{
    bool changed = true;
    while (changed && m->fault == NULL) {
        changed = false;
        for (int s = 0; s < SIDES; s++)
            for (size_t i = 0; i < MACHINE_CONNECTIONS; i++)
                changed |= try_connection(m, (enum side)s, &m->feed[s].connection[i]);
        for (int s = 0; s < SIDES; s++)
            changed |= finish_side(m, (enum side)s);
    }
    note_holds(m);
}

/* --- the clocks --- */

void machine_go_to(struct machine *m, int64_t now_ms)
{
    m->mono_ms += now_ms > m->now_ms ? now_ms - m->now_ms : 0;
    m->now_ms = now_ms;
    engine_watch(m->engine, (struct mono_time){m->mono_ms});
    note(m, (struct machine_entry){.what = TOLD_MONO});
    look_at_books(m);
}

static void tell_clock(struct machine *m)
{
    engine_advance(m->engine, (struct stream_time){m->now_ms});
    note(m, (struct machine_entry){.what = TOLD_CLOCK});
    look_at_books(m);
    machine_try_again(m);
}

void machine_tick(struct machine *m, int64_t now_ms)
{
    machine_go_to(m, now_ms);
    tell_clock(m);
}

void machine_clock(struct machine *m, int64_t now_ms)
{
    m->now_ms = now_ms;
    tell_clock(m);
}

void machine_mono(struct machine *m, int64_t mono_ms)
{
    m->mono_ms = mono_ms;
    engine_watch(m->engine, (struct mono_time){mono_ms});
    note(m, (struct machine_entry){.what = TOLD_MONO});
    look_at_books(m);
    machine_try_again(m);
}

/* --- connections --- */

void machine_open(struct machine *m, enum side side, size_t connection)
{
    struct machine_connection *c = &m->feed[side].connection[connection];
    assert(connection < MACHINE_CONNECTIONS && !m->feed[side].ending);
    if (c->decoder != NULL)
        return;
    c->decoder = decoder_new(&m->config->input[side].format);
    buf_init(&c->bytes);
    engine_feed_open(m->engine, &c->feed, side);
    note(m, (struct machine_entry){.what = TOLD_OPEN, .side = side, .connection = connection});
    note_holds(m);
}

void machine_feed_from(struct machine *m, enum side side, size_t connection, struct bytes bytes)
{
    struct machine_connection *c = &m->feed[side].connection[connection];
    machine_try_again(m);
    machine_open(m, side, connection);
    assert(!c->closing);
    buf_append_bytes(&c->bytes, bytes);
    if (c->hold == ENGINE_TAKES)
        take(m, side, c);
    machine_try_again(m);
}

void machine_feed(struct machine *m, enum side side, struct bytes bytes, int64_t now_ms)
{
    machine_go_to(m, now_ms);
    machine_feed_from(m, side, 0, bytes);
}

static void ask_to_close(struct machine *m, enum side side, struct machine_connection *c)
{
    if (c->decoder == NULL || c->closing)
        return;
    c->closing = true;
    if (c->hold == ENGINE_TAKES)
        take(m, side, c);
}

void machine_close(struct machine *m, enum side side, size_t connection)
{
    ask_to_close(m, side, &m->feed[side].connection[connection]);
    machine_try_again(m);
}

void machine_end(struct machine *m, enum side side)
{
    m->feed[side].ending = true;
    for (size_t i = 0; i < MACHINE_CONNECTIONS; i++)
        ask_to_close(m, side, &m->feed[side].connection[i]);
    machine_try_again(m);
}

void machine_hold(struct machine *m, enum side side)
{
    m->feed[side].held = true;
    note_holds(m);
}

void machine_release(struct machine *m, enum side side)
{
    m->feed[side].held = false;
    for (size_t i = 0; i < MACHINE_CONNECTIONS; i++)
        if (m->feed[side].connection[i].decoder != NULL)
            take(m, side, &m->feed[side].connection[i]);
    machine_try_again(m);
}

bool machine_refused(const struct machine *m, enum side side)
{
    for (size_t i = 0; i < MACHINE_CONNECTIONS; i++) {
        const struct machine_connection *c = &m->feed[side].connection[i];
        if (c->hold != ENGINE_TAKES || (m->feed[side].held && buf_length(&c->bytes) > 0))
            return true;
    }
    return false;
}

void machine_forget_rejects(struct machine *m, size_t count)
{
    assert(count <= m->reject_count);
    m->reject_count -= count;
    for (size_t i = 0; i < m->reject_count; i++)
        m->rejects[i] = m->rejects[i + count];
}

void machine_forget_lates(struct machine *m, size_t count)
{
    assert(count <= m->late_count);
    for (size_t i = 0; i < count; i++) {
        mem_free(m->lates[i].line);
        mem_free(m->lates[i].detail);
    }
    m->late_count -= count;
    for (size_t i = 0; i < m->late_count; i++)
        m->lates[i] = m->lates[i + count];
}

void machine_forget_log(struct machine *m)
{
    m->log_count = 0;
}
