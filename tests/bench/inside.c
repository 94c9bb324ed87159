/*
 * inside: what a line costs within the pure layers, stage by stage, in nanoseconds.
 *
 *     inside [-e] LEFT_FILE RIGHT_FILE BLOCKS
 *
 * The files are those of a run (generate.c): BLOCKS blocks a side, each of them one window. They
 * are joined in memory, by the code of the daemon and in its steps, but without a socket: copied
 * to a buffer as a read would do it, cut, stored, fired and formatted. With -e lines are
 * `key,time,value` and windows are those of event time, of 10 s.
 *
 *     copy    what stands for the read
 *     cut     bytes -> rows
 *     append  rows -> records in the open window: key, judgement, time
 *     fire    build and probe, results
 *     format  results -> rows of text
 *
 * The quickest block counts, the first three, which touch memory, aside. One line on standard
 * output, nanoseconds a line of input:
 *
 *     copy=N cut=N append=N fire=N format=N
 */
#include "tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "codec/decoder.h"
#include "config/reader.h"
#include "engine/engine.h"

#define PULLED      64
#define FUEL        50000
#define WINDOW_MS   10000
#define WARM_BLOCKS 3

enum stage { STAGE_COPY, STAGE_CUT, STAGE_APPEND, STAGE_FIRE, STAGE_FORMAT, STAGES };
static const char *const stage_words[STAGES] = {"copy", "cut", "append", "fire", "format"};

struct run {
    struct config *config;
    struct engine *engine;
    struct encoder *encoder;
    struct decoder *decoder[SIDES];
    struct batch batch[SIDES];
    struct bytes file[SIDES];
    size_t block_bytes[SIDES];
    struct buf rows;
    char *chunk; /* what a read fills */
    struct stream_time now;
    uint64_t lines, results;
    int64_t at_ns; /* when the stage began that is under way */
    int64_t ns[STAGES];
};

/* From the last call to now it was this stage. */
static void spent(struct run *r, enum stage stage)
{
    int64_t now_ns = tool_now_ns();

    r->ns[stage] += now_ns - r->at_ns;
    r->at_ns = now_ns;
}

static struct bytes map_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p;

    if (fd < 0 || fstat(fd, &st) != 0)
        tool_die(path);
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (p == MAP_FAILED)
        tool_die(path);
    close(fd);
    return (struct bytes){p, (size_t)st.st_size};
}

static struct config *read_config(bool event)
{
    struct config_source source = {.path = "inside.ini", .current_directory = "/"};
    struct buf ini = BUF_EMPTY;
    struct config *config;
    struct diag diag;

    for (int side = 0; side < SIDES; side++)
        buf_printf(&ini, "[%s]\nlisten = 127.0.0.1:0\nfields = k, %sv\nkey = k\n%s",
                   side == SIDE_LEFT ? "left" : "right", event ? "t timestamp_ms, " : "",
                   event ? "timestamp = t\nmax_ahead = off\n" : "");
    buf_printf(&ini, "[join]\ntime = %s\nsize = %dms\n[output]\nlisten = 127.0.0.1:0\n",
               event ? "event" : "processing", WINDOW_MS);
    source.text = buf_bytes(&ini);
    diag_init(&diag);
    config = config_read(&source, &diag);
    if (config == NULL)
        tool_die("the configuration cannot be read");
    diag_done(&diag);
    buf_done(&ini);
    return config;
}

/* All lines have one length. What is behind the last block is not read. */
static size_t block_of(struct bytes file, uint64_t blocks)
{
    const char *end = memchr(file.p, '\n', file.n);
    size_t line = end == NULL ? 0 : (size_t)(end + 1 - file.p);

    if (line == 0 || line > TOOL_CHUNK || file.n / blocks < line)
        tool_die("too few lines");
    return file.n / blocks / line * line;
}

static void begin(struct run *r, bool event, char *const *paths, uint64_t blocks)
{
    *r = (struct run){.config = read_config(event), .rows = BUF_EMPTY};
    r->engine = engine_new(r->config->plan);
    r->encoder = encoder_new(&r->config->output[OUTPUT_RESULTS].format, r->config->plan);
    r->chunk = malloc(TOOL_CHUNK);
    if (r->chunk == NULL)
        tool_die("memory");
    for (int side = 0; side < SIDES; side++) {
        r->decoder[side] = decoder_new(&r->config->input[side].format);
        batch_init(&r->batch[side], r->config->plan->side[side].form.field_count);
        r->file[side] = map_file(paths[side]);
        r->block_bytes[side] = block_of(r->file[side], blocks);
    }
}

static void finish(struct run *r)
{
    for (int side = 0; side < SIDES; side++) {
        decoder_free(r->decoder[side]);
        batch_done(&r->batch[side]);
        munmap((void *)(uintptr_t)r->file[side].p, r->file[side].n);
    }
    buf_done(&r->rows);
    free(r->chunk);
    encoder_free(r->encoder);
    engine_free(r->engine);
    config_free(r->config);
}

static void pull(struct run *r)
{
    struct result results[PULLED];
    size_t n;

    do {
        int64_t fuel = FUEL;
        n = engine_pull(r->engine, results, PULLED, &fuel);
        spent(r, STAGE_FIRE);
        if (encoder_results(r->encoder, results, n, SIZE_MAX, &r->rows) != n)
            tool_die("a row cannot be made");
        spent(r, STAGE_FORMAT);
        r->results += n;
        if (buf_length(&r->rows) >= TOOL_CHUNK)
            buf_clear(&r->rows);
    } while (n > 0 || engine_has_work(r->engine));
}

static void push(struct run *r, enum side side)
{
    struct batch *b = &r->batch[side];

    for (size_t at = 0; at < b->count;) {
        size_t taken = engine_push(r->engine, side, b, at, r->now);
        spent(r, STAGE_APPEND);
        at += taken;
        if (engine_has_work(r->engine))
            pull(r);
        else if (taken == 0)
            tool_die("a row is not taken");
    }
    if (b->rejected > 0)
        tool_die("a line is rejected");
    r->lines += b->count;
}

/* One read's bytes, whole lines. */
static void feed(struct run *r, enum side side, const char *p, size_t n)
{
    size_t done = 0;

    memcpy(r->chunk, p, n);
    spent(r, STAGE_COPY);
    while (done < n) {
        done += decoder_read(r->decoder[side], r->chunk + done, n - done, INPUT_GOES_ON,
                             &r->batch[side]);
        spent(r, STAGE_CUT);
        push(r, side);
    }
}

static size_t whole_lines(const char *p, size_t n)
{
    const char *last = memrchr(p, '\n', n < TOOL_CHUNK ? n : TOOL_CHUNK);

    return last == NULL ? 0 : (size_t)(last + 1 - p);
}

/* The sides in turn, a read each. */
static void join_block(struct run *r, uint64_t block)
{
    struct bytes left[SIDES];

    for (int side = 0; side < SIDES; side++)
        left[side] =
            (struct bytes){r->file[side].p + block * r->block_bytes[side], r->block_bytes[side]};
    while (left[SIDE_LEFT].n > 0 || left[SIDE_RIGHT].n > 0) {
        for (int side = 0; side < SIDES; side++) {
            size_t n = whole_lines(left[side].p, left[side].n);
            if (n > 0)
                feed(r, (enum side)side, left[side].p, n);
            left[side].p += n;
            left[side].n -= n;
        }
    }
}

/* Remembers the stages of the quickest block; not of the first ones, which touch memory. */
static void keep_best(const struct run *r, const int64_t before[STAGES], int64_t best[STAGES])
{
    int64_t sum = 0, best_sum = 0;

    for (int i = 0; i < STAGES; i++) {
        sum += r->ns[i] - before[i];
        best_sum += best[i];
    }
    for (int i = 0; i < STAGES && (best_sum == 0 || sum < best_sum); i++)
        best[i] = r->ns[i] - before[i];
}

static void join_all(struct run *r, uint64_t blocks, int64_t best[STAGES])
{
    int64_t before[STAGES];

    r->at_ns = tool_now_ns();
    for (uint64_t block = 0; block < blocks; block++) {
        memcpy(before, r->ns, sizeof(before));
        join_block(r, block);
        r->now.ms += WINDOW_MS;
        engine_advance(r->engine, r->now);
        pull(r);
        if (block >= WARM_BLOCKS)
            keep_best(r, before, best);
    }
}

int main(int argc, char **argv)
{
    bool event = argc > 1 && strcmp(argv[1], "-e") == 0;
    int64_t best[STAGES] = {0};
    uint64_t blocks;
    struct run r;

    if (argc - event != 4) {
        fputs("usage: inside [-e] LEFT_FILE RIGHT_FILE BLOCKS\n", stderr);
        return 1;
    }
    argv += event;
    blocks = tool_number("BLOCKS: at least 4", argv[3], WARM_BLOCKS + 1);
    begin(&r, event, argv + 1, blocks);
    join_all(&r, blocks, best);
    if (r.results == 0)
        tool_die("nothing was joined");
    for (int i = 0; i < STAGES; i++)
        printf("%s=%.2f%c", stage_words[i], (double)best[i] / ((double)r.lines / (double)blocks),
               i + 1 < STAGES ? ' ' : '\n');
    finish(&r);
    return 0;
}
