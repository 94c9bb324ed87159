/*
 * soak: a join runs for a long while, and its memory stays what it was.
 *
 *     soak [--records N] [--only NAME]     all joins of the table below, or one
 *     soak --windows N                     so many open windows, a record a side in each
 *
 * Records of both sides with moving keys go through the whole core (configuration, CSV
 * decoder, engine, encoder) in virtual time: ten of a key on each side, then never again;
 * some out of order, some without a partner, some with a NULL key. After the first tenth
 * of the records what the engine holds, what it got from the system, and the process's
 * resident memory are noted; they may not be more at the end, but for a little slack.
 * The books must balance then, and everything must be gone when both sides have ended.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/decoder.h"
#include "config/reader.h"
#include "engine/engine.h"

#define LINES_A_READ 200
#define SLACK_BYTES  (10 << 20) /* such as what is remembered of lost records: bounded */

/* A record a side each millisecond; a key is there for KEY_MS. */
#define KEY_MS   40
#define KEYS_NOW 10

struct join {
    const char *name, *keys; /* of [join] */
    bool event;
    int64_t delay_ms;
};

static const struct join joins[] = {
    {"tumbling", "match = tumbling\nsize = 1s", false, 0},
    {"tumbling-event", "match = tumbling\nsize = 1s", true, 500},
    {"tumbling-grace", "match = tumbling\nsize = 1s\ngrace = 2s", true, 100},
    {"sliding", "match = sliding\nsize = 2s\nslide = 500ms", false, 0},
    {"sliding-event", "match = sliding\nsize = 2s\nslide = 700ms", true, 500},
    {"sliding-grace", "match = sliding\nsize = 2s\nslide = 1s\ngrace = 1s", true, 100},
    {"sliding-gaps", "match = sliding\nsize = 500ms\nslide = 1s", true, 500},
    {"session", "match = session\ngap = 300ms", false, 0},
    {"session-event", "match = session\ngap = 300ms", true, 500},
    {"interval", "match = interval\nlower = -500ms\nupper = 500ms", false, 0},
    {"interval-event", "match = interval\nlower = -500ms\nupper = 500ms", true, 500},
};

struct soak {
    struct config *config;
    struct engine *engine;
    struct decoder *decoder[SIDES];
    struct encoder *encoder;
    struct batch batch[SIDES];
    struct buf lines, rows;
    uint64_t random, results;
};

static uint64_t random_next(struct soak *s)
{
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return s->random >> 33;
}

static void append_side(struct buf *to, const char *side, const struct join *j)
{
    buf_printf(to, "[%s]\nlisten = 127.0.0.1:0\nfields = k, id, t timestamp_ms\nkey = k\n", side);
    if (j->event)
        buf_printf(to, "timestamp = t\nmax_ahead = off\ndelay = %" PRId64 "ms\n", j->delay_ms);
}

static bool begin(struct soak *s, const struct join *j)
{
    struct buf ini = BUF_EMPTY;
    struct diag diag;
    struct config_source source = {.path = "soak.ini", .current_directory = "/"};

    diag_init(&diag);
    append_side(&ini, "left", j);
    append_side(&ini, "right", j);
    buf_printf(&ini, "[join]\ntype = full\n%s\ntime = %s\n[output]\nfile = -\n", j->keys,
               j->event ? "event" : "processing");
    source.text = buf_bytes(&ini);
    *s = (struct soak){.random = 1, .config = config_read(&source, &diag)};
    buf_done(&ini);
    if (s->config == NULL) {
        fprintf(stderr, "%s: the configuration cannot be read\n", j->name);
        diag_done(&diag);
        return false;
    }
    diag_done(&diag);
    s->engine = engine_new(s->config->plan);
    s->encoder = encoder_new(&s->config->output[OUTPUT_RESULTS].format, s->config->plan);
    for (int i = 0; i < SIDES; i++) {
        s->decoder[i] = decoder_new(&s->config->input[i].format);
        batch_init(&s->batch[i], s->config->plan->side[i].schema.count);
    }
    return true;
}

static void finish(struct soak *s)
{
    for (int i = 0; i < SIDES; i++) {
        decoder_free(s->decoder[i]);
        batch_done(&s->batch[i]);
    }
    encoder_free(s->encoder);
    engine_free(s->engine);
    config_free(s->config);
    buf_done(&s->lines);
    buf_done(&s->rows);
}

static void pull(struct soak *s)
{
    struct result results[64];
    size_t n;

    do {
        int64_t fuel = 100000;
        n = engine_pull(s->engine, results, 64, &fuel);
        buf_clear(&s->rows);
        for (size_t i = 0; i < n; i++)
            encoder_results(s->encoder, &results[i], 1, SIZE_MAX, &s->rows);
        s->results += n;
    } while (n > 0 || engine_has_work(s->engine));
}

static void append_line(struct soak *s, int64_t now_ms, const struct join *j)
{
    uint64_t dice = random_next(s);
    int64_t t = now_ms - (j->event ? (int64_t)(random_next(s) % 80) : 0);

    if (dice % 50 == 0)
        buf_printf(&s->lines, ",%" PRIu64 ",%" PRId64 "\n", dice, t);
    else if (dice % 50 == 1)
        buf_printf(&s->lines, "alone-%" PRIu64 "-%" PRId64 ",x,%" PRId64 "\n", dice, now_ms, t);
    else
        buf_printf(&s->lines, "key-%" PRId64 "-%" PRIu64 ",some text,%" PRId64 "\n",
                   now_ms / KEY_MS, dice % KEYS_NOW, t);
}

/* Reads LINES_A_READ lines of one side, and pulls what comes of them. */
static bool feed(struct soak *s, enum side side, int64_t now_ms, const struct join *j)
{
    struct batch *b = &s->batch[side];
    size_t done = 0;

    buf_clear(&s->lines);
    for (int i = 0; i < LINES_A_READ; i++)
        append_line(s, now_ms + i, j);
    while (done < buf_length(&s->lines)) {
        size_t used = decoder_read(s->decoder[side], buf_data(&s->lines) + done,
                                   buf_length(&s->lines) - done, INPUT_GOES_ON, b);
        size_t at = 0;
        while (at < b->count) {
            size_t taken = engine_push(s->engine, side, b, at, (struct stream_time){now_ms});
            if (taken == 0 && !engine_has_work(s->engine))
                return false;
            at += taken;
            pull(s);
        }
        done += used;
    }
    return true;
}

static uint64_t resident(void)
{
    unsigned long long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f == NULL || fscanf(f, "%llu %llu", &size, &pages) != 2)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct figures {
    uint64_t state, mapped, resident, held;
};

static struct figures figures_of(const struct soak *s)
{
    return (struct figures){
        .state = engine_state_bytes(s->engine),
        .mapped = engine_mapped_bytes(s->engine),
        .resident = resident(),
        .held = engine_held(s->engine, SIDE_LEFT) + engine_held(s->engine, SIDE_RIGHT),
    };
}

static bool grown(const char *name, const char *what, uint64_t before, uint64_t after)
{
    if (after <= before + before / 4 + SLACK_BYTES)
        return false;
    fprintf(stderr, "%s: %s grew from %" PRIu64 " to %" PRIu64 "\n", name, what, before, after);
    return true;
}

static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

static bool all_gone(struct soak *s, const char *name)
{
    engine_end(s->engine, SIDE_LEFT);
    engine_end(s->engine, SIDE_RIGHT);
    pull(s);
    if (engine_held(s->engine, SIDE_LEFT) + engine_held(s->engine, SIDE_RIGHT) == 0 &&
        engine_books_balance(s->engine))
        return true;
    fprintf(stderr, "%s: records are held beyond the end, or the books do not balance\n", name);
    return false;
}

static bool soak(const struct join *j, uint64_t records)
{
    struct soak s;
    struct figures first = {0}, last;
    int64_t now_ms = 1700000000000;
    bool good = begin(&s, j);

    if (!good)
        return false;
    for (uint64_t done = 0; done < records && good; done += 2 * LINES_A_READ) {
        good = feed(&s, SIDE_LEFT, now_ms, j) && feed(&s, SIDE_RIGHT, now_ms, j);
        now_ms += LINES_A_READ;
        if (done <= records / 10)
            first = figures_of(&s);
    }
    last = figures_of(&s);
    if (!good)
        fprintf(stderr, "%s: stuck\n", j->name);
    good &= engine_books_balance(s.engine);
    good &= !grown(j->name, "state", first.state, last.state);
    good &= !grown(j->name, "mapped memory", first.mapped, last.mapped);
    /* Sanitizers keep what is freed. */
    good &= is_sanitized() || !grown(j->name, "resident memory", first.resident, last.resident);
    good &= all_gone(&s, j->name);
    printf("%-16s %10" PRIu64 " records %10" PRIu64 " results, held %7" PRIu64 ", state %5" PRIu64
           " -> %5" PRIu64 " KiB, resident %6" PRIu64 " -> %6" PRIu64 " KiB: %s\n",
           j->name, records, s.results, last.held, first.state >> 10, last.state >> 10,
           first.resident >> 10, last.resident >> 10, good ? "ok" : "FAILED");
    fflush(stdout);
    finish(&s);
    return good;
}

/* --- many open windows --- */

/* Beside the records of a window: its own struct, its logs, and what their chunks leave free. */
#define WINDOW_BYTES_MAX 700

/* One record on each side of each window, in any order of windows. */
static bool open_windows(struct soak *s, uint64_t windows)
{
    uint64_t step = 48271; /* prime to the number of windows, unless that is a multiple of it */

    for (int side = 0; side < SIDES; side++) {
        struct batch *b = &s->batch[side];
        for (uint64_t i = 0; i < windows; i++) {
            uint64_t second = i * step % windows;
            buf_clear(&s->lines);
            buf_printf(&s->lines, "key-%" PRIu64 ",some text,%" PRIu64 "\n", second,
                       1700000000000 + 1000 * second);
            decoder_read(s->decoder[side], buf_data(&s->lines), buf_length(&s->lines),
                         INPUT_GOES_ON, b);
            if (engine_push(s->engine, (enum side)side, b, 0, (struct stream_time){0}) != 1)
                return false;
        }
    }
    return true;
}

static bool many_windows(uint64_t windows)
{
    static const struct join join = {"windows", "match = tumbling\nsize = 1s", true, 86400000};
    struct soak s;
    struct figures before, full;
    uint64_t a_window, a_window_resident;
    bool good;

    if (!begin(&s, &join))
        return false;
    before = figures_of(&s);
    good = open_windows(&s, windows) && engine_books_balance(s.engine);
    full = figures_of(&s);
    a_window = full.state / windows;
    a_window_resident = (full.resident - before.resident) / windows;
    /* A line takes 36 bytes, and 12 as a record. */
    good &= full.held == 2 * windows && a_window <= 2 * 48 + WINDOW_BYTES_MAX;
    good &= is_sanitized() || a_window_resident <= 2 * 48 + WINDOW_BYTES_MAX + 64;
    good &= all_gone(&s, join.name);
    printf("%" PRIu64 " open windows: %" PRIu64 " bytes of state each, %" PRIu64
           " resident; %" PRIu64 " results: %s\n",
           windows, a_window, a_window_resident, s.results, good ? "ok" : "FAILED");
    finish(&s);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t records = 1000000;
    const char *only = NULL;
    bool good = true;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--records") == 0)
            records = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else if (strcmp(argv[i], "--windows") == 0)
            return many_windows(strtoull(argv[i + 1], NULL, 10)) ? 0 : 1;
    }
    for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++)
        if (only == NULL || strcmp(only, joins[i].name) == 0)
            good &= soak(&joins[i], records);
    return good ? 0 : 1;
}
