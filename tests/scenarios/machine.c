#include "machine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

/* A walk that never comes to its end is a fault, not a test that hangs. */
#define PULLS_MAX        20000000
#define WINDOW_BYTES_MAX 1024

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
    for (int s = 0; s < SIDES; s++) {
        m->decoder[s] = decoder_new(&config->input[s].format);
        batch_init(&m->batch[s], config->plan->side[s].schema.count);
        buf_init(&m->feed[s].bytes);
    }
    return m;
}

void machine_free(struct machine *m)
{
    if (m == NULL)
        return;
    for (int s = 0; s < SIDES; s++) {
        decoder_free(m->decoder[s]);
        batch_done(&m->batch[s]);
        buf_done(&m->feed[s].bytes);
    }
    machine_forget_rows(m);
    mem_free(m->rows);
    mem_free(m->rejects);
    mem_free(m->log);
    mem_free(m->fault);
    encoder_free(m->encoder);
    engine_free(m->engine);
    config_free(m->config);
    mem_free(m);
}

/* --- promises --- */

static void break_promise(struct machine *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void break_promise(struct machine *m, const char *format, ...)
{
    if (m->fault != NULL)
        return;
    struct buf text = BUF_EMPTY;
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    m->fault = mem_strdup(buf_text(&text));
    buf_done(&text);
}

static void look_at_books(struct machine *m)
{
    const struct books *books = engine_books(m->engine);
    for (int s = 0; s < SIDES; s++) {
        const struct books_side *b = &books->side[s];
        uint64_t held = engine_held(m->engine, s);
        if (!books_balance(b, held))
            break_promise(m,
                          "%s: received %" PRIu64 " is not rejected %" PRIu64 " + filtered %" PRIu64
                          " + late %" PRIu64 " + matched %" PRIu64 " + unmatched %" PRIu64
                          " + held %" PRIu64,
                          side_word(s), b->received, b->rejected, b->filtered, b->late, b->matched,
                          b->unmatched, held);
    }
    if (!engine_books_balance(m->engine))
        break_promise(m, "the books do not balance when held is counted from the records");
    for (int k = 0; k < RESULT_KINDS; k++)
        if (books->results[k] != m->seen[k])
            break_promise(m, "%s: %" PRIu64 " results counted, %" PRIu64 " seen",
                          result_kind_word(k), books->results[k], m->seen[k]);
}

/* --- in --- */

static void *room_for_one(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity * 2 + 16;
    return mem_realloc(list, *capacity * size);
}

static void note(struct machine *m, struct machine_entry entry)
{
    m->log = room_for_one(m->log, m->log_count, &m->log_capacity, sizeof(*m->log));
    m->log[m->log_count++] = entry;
}

static void note_rejects(struct machine *m, enum side side, size_t taken)
{
    for (size_t i = 0; i < taken; i++) {
        enum reject why = m->batch[side].rows[i].reject;
        if (why == REJECT_NONE)
            continue;
        m->rejects =
            room_for_one(m->rejects, m->reject_count, &m->reject_capacity, sizeof(*m->rejects));
        m->rejects[m->reject_count++] = (struct machine_reject){side, why};
    }
}

/* State that is full of nothing stays so for ever. */
static void look_for_way_out(struct machine *m)
{
    if (!engine_has_work(m->engine) && !engine_takes(m->engine) &&
        engine_held(m->engine, SIDE_LEFT) + engine_held(m->engine, SIDE_RIGHT) == 0)
        break_promise(m, "state is full, and neither pulling nor time can make room");
}

/* An engine that refused a row and would say that it takes some more makes its caller spin. */
static void look_at_refusal(struct machine *m, enum side side, size_t taken, int64_t now_ms)
{
    struct batch *b = &m->batch[side];
    if (engine_takes(m->engine))
        break_promise(m, "the engine refused a row and says that it takes rows");
    if (engine_push(m->engine, side, b, taken, (struct stream_time){now_ms}) != 0)
        break_promise(m, "the engine took a row that it had just refused");
    look_for_way_out(m);
}

/* `state.memory` holds, but for a new window's own few hundred bytes. */
static void look_at_state(struct machine *m, uint64_t before)
{
    uint64_t bytes = engine_state_bytes(m->engine), max = m->config->plan->state_bytes_max;
    if (bytes > (before > max ? before : max) + WINDOW_BYTES_MAX)
        break_promise(m, "%" PRIu64 " bytes of state, of %" PRIu64 " that are allowed", bytes, max);
}

static size_t push(struct machine *m, enum side side, int64_t now_ms)
{
    uint64_t before = engine_state_bytes(m->engine);
    size_t taken = engine_push(m->engine, side, &m->batch[side], 0, (struct stream_time){now_ms});
    note(m, (struct machine_entry){.side = side, .rows = taken, .now_ms = now_ms});
    note_rejects(m, side, taken);
    look_at_state(m, before);
    return taken;
}

/* Returns how many of the first `n` bytes of the feed are done with. */
static size_t take_some(struct machine *m, enum side side, size_t n, int64_t now_ms)
{
    struct machine_feed *feed = &m->feed[side];
    struct batch *b = &m->batch[side];
    bool all = n == buf_length(&feed->bytes);
    enum input_end end = feed->ending && all ? INPUT_ENDED : INPUT_GOES_ON;
    size_t done = 0;
    for (;;) {
        size_t used =
            decoder_read(m->decoder[side], buf_data(&feed->bytes) + done, n - done, end, b);
        size_t rows = b->count;
        size_t taken = rows == 0 ? 0 : push(m, side, now_ms);
        look_at_books(m);
        if (taken < rows) {
            feed->refused = true;
            look_at_refusal(m, side, taken, now_ms);
            return done + decoder_rewind(m->decoder[side], b, taken);
        }
        done += used;
        if (used == 0 && rows == 0)
            return done;
    }
}

/* The decoder is shown what waits, in pieces if so wished, and the engine its rows. */
static void take(struct machine *m, enum side side, int64_t now_ms)
{
    struct machine_feed *feed = &m->feed[side];
    feed->refused = false;
    do {
        size_t length = buf_length(&feed->bytes), more = feed->shown + m->cut;
        feed->shown = m->cut == 0 || more > length ? length : more;
        size_t done = take_some(m, side, feed->shown, now_ms);
        buf_eat(&feed->bytes, done);
        feed->shown -= done;
    } while (!feed->refused && feed->shown < buf_length(&feed->bytes));

    if (feed->ending && !feed->ended && !feed->refused) {
        feed->ended = true;
        engine_end(m->engine, side);
        note(m, (struct machine_entry){.side = side, .ended = true});
        look_at_books(m);
    }
}

static void try_again(struct machine *m, int64_t now_ms)
{
    for (int s = 0; s < SIDES; s++)
        if (m->feed[s].refused && engine_takes(m->engine))
            take(m, s, now_ms);
}

void machine_feed(struct machine *m, enum side side, struct bytes bytes, int64_t now_ms)
{
    assert(!m->feed[side].ending);
    try_again(m, now_ms);
    buf_append_bytes(&m->feed[side].bytes, bytes);
    if (!m->feed[side].refused)
        take(m, side, now_ms);
}

void machine_tick(struct machine *m, int64_t now_ms)
{
    engine_advance(m->engine, (struct stream_time){now_ms});
    look_at_books(m);
    try_again(m, now_ms);
}

void machine_end(struct machine *m, enum side side)
{
    if (m->feed[side].ending)
        return;
    m->feed[side].ending = true;
    if (!m->feed[side].refused)
        take(m, side, engine_time(m->engine).ms);
}

bool machine_refused(const struct machine *m, enum side side)
{
    return m->feed[side].refused;
}

/* --- out --- */

static void append_record(struct machine *m, const struct result *r, enum side side, struct buf *to)
{
    const struct record_form *form = &m->config->plan->side[side].form;
    if (r->record[side] == NULL) {
        buf_append_text(to, "nobody");
        return;
    }
    struct bytes *fields = mem_alloc(form->field_count * sizeof(*fields));
    record_fields(r->record[side], form, fields);
    for (size_t i = 0; i < form->field_count; i++) {
        buf_append_text(to, i == 0 ? "" : "|");
        buf_append_bytes(to, fields[i].p == NULL ? BYTES_LIT("~") : fields[i]);
    }
    mem_free(fields);
}

/* What `record` says of a result and what its kind means must agree. */
static void look_at_result(struct machine *m, const struct result *r)
{
    bool left = r->record[SIDE_LEFT] != NULL, right = r->record[SIDE_RIGHT] != NULL;
    bool left_wanted = r->kind != RESULT_RIGHT;
    bool right_wanted = r->kind == RESULT_PAIR || r->kind == RESULT_RIGHT;
    if (left != left_wanted || right != right_wanted)
        break_promise(m, "a result of kind %s has %s", result_kind_word(r->kind),
                      left && right ? "both records"
                      : left        ? "the left record"
                      : right       ? "the right record"
                                    : "no record");
}

static void keep_row(struct machine *m, const struct result *r)
{
    struct buf text = BUF_EMPTY, records = BUF_EMPTY;
    if (!encoder_result(m->encoder, r, &text))
        break_promise(m, "a row of plain fields could not be made");
    append_record(m, r, SIDE_LEFT, &records);
    buf_append_text(&records, " & ");
    append_record(m, r, SIDE_RIGHT, &records);

    m->rows = room_for_one(m->rows, m->row_count, &m->row_capacity, sizeof(*m->rows));
    size_t length = buf_length(&text);
    if (length == 0 || buf_data(&text)[length - 1] != '\n')
        break_promise(m, "a row does not end with LF");
    m->rows[m->row_count++] = (struct machine_row){
        .kind = r->kind,
        .window_start = r->window_start,
        .window_end = r->window_end,
        .text = mem_strndup(buf_data(&text), length == 0 ? 0 : length - 1),
        .records = mem_strdup(buf_text(&records)),
    };
    buf_done(&text);
    buf_done(&records);
}

/* The results are made into rows before the engine is asked anything else. */
static size_t pull_once(struct machine *m, struct result *results, size_t max, int64_t fuel)
{
    bool had_work = engine_has_work(m->engine);
    size_t n = engine_pull(m->engine, results, max, &fuel);
    if (n > max)
        break_promise(m, "%zu results where %zu were asked for", n, max);
    if (n > 0 && !had_work)
        break_promise(m, "results came where there was no work");
    for (size_t i = 0; i < n; i++) {
        look_at_result(m, &results[i]);
        m->seen[results[i].kind]++;
        keep_row(m, &results[i]);
    }
    if (n == 0 && fuel > 0 && engine_has_work(m->engine))
        break_promise(m, "no results with fuel left, and yet there is work");
    look_at_books(m);
    return n;
}

size_t machine_pull(struct machine *m, size_t max, int64_t fuel)
{
    struct result *results = mem_alloc(max * sizeof(*results));
    size_t n = pull_once(m, results, max, fuel);
    mem_free(results);
    try_again(m, engine_time(m->engine).ms);
    return n;
}

void machine_drain(struct machine *m, size_t max, int64_t fuel)
{
    for (long pulls = 0; engine_has_work(m->engine) && m->fault == NULL; pulls++) {
        machine_pull(m, max, fuel);
        if (pulls > PULLS_MAX)
            break_promise(m, "the walk has no end");
    }
    look_for_way_out(m);
    engine_trim(m->engine);
}

void machine_forget_rows(struct machine *m)
{
    for (size_t i = 0; i < m->row_count; i++) {
        mem_free(m->rows[i].text);
        mem_free(m->rows[i].records);
    }
    m->row_count = 0;
}

void machine_forget_rejects(struct machine *m, size_t count)
{
    assert(count <= m->reject_count);
    m->reject_count -= count;
    for (size_t i = 0; i < m->reject_count; i++)
        m->rejects[i] = m->rejects[i + count];
}

void machine_forget_log(struct machine *m)
{
    m->log_count = 0;
}
