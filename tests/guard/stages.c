/*
 * stages: the way of a record through the pure layers, one stage after the other, for counting
 * what each costs.
 *
 *     stages               prints `STAGE RECORDS`, a line a stage
 *
 * Under valgrind --tool=callgrind --instr-atstart=no each stage is counted alone, and dumped
 * under its name (instructions.py adds it up). All is made by arithmetic: the same program
 * executes the same instructions on every run.
 *
 *     cut          bytes -> rows of batches, as every x86-64 does it
 *     cut_avx2     the same, where the machine has that
 *     cut_json     the same for JSON
 *     append       rows -> records in an open window, in processing time
 *     append_event the same in event time
 *     fire         a window is due: build and probe, results pulled; every record has a partner
 *     fire_alone   the same, and none has
 *     format       results -> rows of text
 *     interval     rows -> results, expiry included; so the next ones
 *     latest
 *     session
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <valgrind/callgrind.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/decoder.h"
#include "codec/rows.h"
#include "config/reader.h"
#include "engine/engine.h"

#define BATCHES  100 /* a side */
#define LINES    (BATCHES * BATCH_ROWS)
#define KEYS     5000 /* of keyed joins: one comes every 5 s */
#define BEGIN_MS INT64_C(1700000000000)
#define FORMATS  400 /* times PULLED rows */
#define PULLED   64

struct fixture {
    struct config *config;
    struct engine *engine;
    struct encoder *encoder;
    struct buf lines[SIDES];
    struct batch *batch[SIDES]; /* BATCHES of each, cut */
};

static void begin_stage(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

/* A macro, for callgrind wants the name as it is. */
#define END_STAGE(name, records)                                                                   \
    do {                                                                                           \
        CALLGRIND_DUMP_STATS_AT(name);                                                             \
        CALLGRIND_STOP_INSTRUMENTATION;                                                            \
        printf("%s %d\n", name, records);                                                          \
    } while (0)

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "stages: %s\n", what);
    exit(1);
}

/* One a millisecond, both sides alike, but for `strange` keys on the right. 40 bytes of CSV. */
static void make_lines(struct buf *to, enum side side, int keys, bool json, bool strange)
{
    for (int i = 0; i < LINES; i++) {
        uint32_t n = (uint32_t)(i % keys) + (strange && side == SIDE_RIGHT ? UINT32_C(1) << 31 : 0);
        uint32_t key = n * UINT32_C(2654435761);

        buf_printf(to,
                   json ? "{\"k\":\"%010" PRIu32 "\",\"t\":%" PRId64 ",\"v\":\"%c%013d\"}\n"
                        : "%010" PRIu32 ",%" PRId64 ",%c%013d\n",
                   key, BEGIN_MS + i, side == SIDE_LEFT ? 'L' : 'R', i);
    }
}

static struct config *read_config(const char *join, bool event, bool json)
{
    struct buf ini = BUF_EMPTY;
    struct config_source source = {.path = "stages.ini", .current_directory = "/"};
    struct config *config;
    struct diag diag;

    for (int side = 0; side < SIDES; side++)
        buf_printf(&ini,
                   "[%s]\nlisten = 127.0.0.1:0\nfields = k, t timestamp_ms, v\nkey = k\n%s"
                   "format = %s\n",
                   side == SIDE_LEFT ? "left" : "right",
                   event ? "timestamp = t\nmax_ahead = off\n" : "", json ? "json" : "csv");
    buf_printf(&ini, "[join]\ntime = %s\n%s\n[output]\nfile = -\n[process]\nhash_seed = 1\n",
               event ? "event" : "processing", join);
    source.text = buf_bytes(&ini);
    diag_init(&diag);
    config = config_read(&source, &diag);
    if (config == NULL)
        die("the configuration cannot be read");
    diag_done(&diag);
    buf_done(&ini);
    return config;
}

/* Cuts all lines: into one batch, or, to keep them, into BATCHES. */
static void cut(const struct input_format *format, const struct buf *lines, struct batch *batch,
                bool keep)
{
    struct decoder *decoder = decoder_new(format);
    size_t done = 0, rows = 0;

    while (done < buf_length(lines)) {
        done += decoder_read(decoder, buf_data(lines) + done, buf_length(lines) - done,
                             INPUT_GOES_ON, batch);
        if (batch->rejected != 0)
            die("a line is rejected");
        rows += batch->count;
        batch += keep;
    }
    if (rows != LINES)
        die("lines are missing");
    decoder_free(decoder);
}

static void begin(struct fixture *f, const char *join, bool event, int keys, bool strange)
{
    *f = (struct fixture){.config = read_config(join, event, false)};
    f->engine = engine_new(f->config->plan);
    f->encoder = encoder_new(&f->config->output[OUTPUT_RESULTS].format, f->config->plan);
    for (int side = 0; side < SIDES; side++) {
        make_lines(&f->lines[side], (enum side)side, keys, false, strange);
        f->batch[side] = mem_alloc(BATCHES * sizeof(struct batch));
        for (int i = 0; i < BATCHES; i++)
            batch_init(&f->batch[side][i], f->config->plan->side[side].schema.count);
        cut(&f->config->input[side].format, &f->lines[side], f->batch[side], true);
    }
}

static void finish(struct fixture *f)
{
    if (!engine_books_balance(f->engine))
        die("the books do not balance");
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < BATCHES; i++)
            batch_done(&f->batch[side][i]);
        mem_free(f->batch[side]);
        buf_done(&f->lines[side]);
    }
    encoder_free(f->encoder);
    engine_free(f->engine);
    config_free(f->config);
}

static size_t pull(struct fixture *f)
{
    struct result results[PULLED];
    size_t all = 0, n;

    do {
        int64_t fuel = 100000;
        n = engine_pull(f->engine, results, PULLED, &fuel);
        all += n;
    } while (n > 0 || engine_has_work(f->engine));
    return all;
}

static void push(struct fixture *f, enum side side, int number, bool pulls, size_t *results)
{
    struct batch *b = &f->batch[side][number];
    size_t at = 0;

    while (at < b->count) {
        size_t taken = engine_push(f->engine, side, b, at, (struct stream_time){BEGIN_MS});
        at += taken;
        if (pulls)
            *results += pull(f);
        else if (taken == 0)
            die("a row is not taken");
    }
}

static void expect(const char *stage, size_t results, size_t least, size_t most)
{
    if (results < least || results > most) {
        fprintf(stderr, "stages: %s: %zu results\n", stage, results);
        exit(1);
    }
}

/* --- the stages --- */

static void count_cut(bool json, enum scan_way way)
{
    struct config *config = read_config("size = 1h", true, json);
    struct buf lines = BUF_EMPTY;
    struct batch batch;

    rows_scan_at_best(way);
    make_lines(&lines, SIDE_LEFT, LINES, json, false);
    batch_init(&batch, config->plan->side[SIDE_LEFT].schema.count);
    cut(&config->input[SIDE_LEFT].format, &lines, &batch, false); /* buffers grow */
    begin_stage();
    cut(&config->input[SIDE_LEFT].format, &lines, &batch, false);
    if (json)
        END_STAGE("cut_json", LINES);
    else if (way == SCAN_SSE2)
        END_STAGE("cut", LINES);
    else
        END_STAGE("cut_avx2", LINES);
    batch_done(&batch);
    buf_done(&lines);
    config_free(config);
}

static void append_all(struct fixture *f)
{
    size_t none = 0;

    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < BATCHES; i++)
            push(f, (enum side)side, i, false, &none);
}

static void end(struct fixture *f)
{
    engine_end(f->engine, SIDE_LEFT);
    engine_end(f->engine, SIDE_RIGHT);
}

static void count_window(void)
{
    struct fixture f;
    size_t results;

    begin(&f, "size = 36500d", false, LINES, false);
    begin_stage();
    append_all(&f);
    END_STAGE("append", SIDES * LINES);
    end(&f);
    begin_stage();
    results = pull(&f);
    END_STAGE("fire", SIDES * LINES);
    expect("fire", results, LINES, LINES);
    finish(&f);
}

static void count_event_window(void)
{
    struct fixture f;

    begin(&f, "size = 1h", true, LINES, false); /* which keeps 32 bits of each time, as most do */
    begin_stage();
    append_all(&f);
    END_STAGE("append_event", SIDES * LINES);
    end(&f);
    pull(&f);
    finish(&f);
}

static void count_lonely_window(void)
{
    struct fixture f;
    size_t results;

    begin(&f, "size = 36500d", false, LINES, true);
    append_all(&f);
    end(&f);
    begin_stage();
    results = pull(&f);
    END_STAGE("fire_alone", SIDES * LINES);
    expect("fire_alone", results, 0, 0);
    finish(&f);
}

static void count_format(void)
{
    struct result results[PULLED];
    struct buf rows = BUF_EMPTY;
    struct fixture f;
    int64_t fuel = 100000000;

    begin(&f, "size = 36500d", false, LINES, false);
    append_all(&f);
    end(&f);
    /* The first call may be at work on the partition. */
    for (size_t n = 0; n != PULLED; fuel = 100000000)
        n = engine_pull(f.engine, results, PULLED, &fuel);
    begin_stage();
    for (int i = 0; i < FORMATS; i++) {
        buf_clear(&rows);
        if (encoder_results(f.encoder, results, PULLED, SIZE_MAX, &rows) != PULLED)
            die("a row cannot be made");
    }
    END_STAGE("format", FORMATS * PULLED);
    buf_done(&rows);
    pull(&f);
    finish(&f);
}

/* Both sides go on together, a batch each; results are pulled as they come. */
static size_t keyed(struct fixture *f, int from, int to)
{
    size_t results = 0;

    for (int i = from; i < to; i++)
        for (int side = 0; side < SIDES; side++)
            push(f, (enum side)side, i, true, &results);
    return results;
}

/* The second half is counted: memory has grown by then. Every record has one partner. */
#define COUNT_KEYED(name, join)                                                                    \
    do {                                                                                           \
        struct fixture f;                                                                          \
        size_t results;                                                                            \
        begin(&f, join, true, KEYS, false);                                                        \
        keyed(&f, 0, BATCHES / 2);                                                                 \
        begin_stage();                                                                             \
        results = keyed(&f, BATCHES / 2, BATCHES);                                                 \
        END_STAGE(name, LINES);                                                                    \
        expect(name, results, LINES / 2 - LINES / 20, LINES / 2 + LINES / 20);                     \
        end(&f);                                                                                   \
        pull(&f);                                                                                  \
        finish(&f);                                                                                \
    } while (0)

int main(void)
{
    count_cut(false, SCAN_SSE2);
    if (scan_has(SCAN_AVX2))
        count_cut(false, SCAN_AVX2);
    count_cut(true, SCAN_SSE2);
    count_window();
    count_event_window();
    count_lonely_window();
    count_format();
    COUNT_KEYED("interval", "match = interval\nlower = -1s\nupper = 1s");
    COUNT_KEYED("latest", "match = latest");
    COUNT_KEYED("session", "match = session\ngap = 1s");
    return 0;
}
