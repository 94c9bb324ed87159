/*
 * inside: what a line costs within the pure layers, stage by stage, in nanoseconds.
 *
 *     inside [-e] LEFT_FILE RIGHT_FILE BLOCKS
 *     inside -s SHAPE KEYS BLOCKS
 *
 * The files are those of a run (generate.c): BLOCKS blocks a side, each of them one window. They
 * are joined in memory, by the code of the daemon and in its steps, but without a socket: copied
 * to a buffer as a read would do it, cut, stored, fired and formatted. With -e lines are
 * `key,time,value` and windows are those of event time, of 10 s. With -s the lines are made here,
 * KEYS a side and block, for the join of the README (orders and shipments, windows of the clock):
 *
 *     readme    `id bigint, customer, amount double` and `parcel, order_id bigint, carrier`
 *     where     and `where = amount > 10`, which is true, `where = carrier <> 'Nobody'`
 *     quoted    and each customer in quotes, for there is a comma in it
 *     computed  and `key = upper(id)`, of strings, on both sides
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

static struct config *parse(const struct buf *ini)
{
    struct config_source source = {.path = "inside.ini", .current_directory = "/"};
    struct config *config;
    struct diag diag;

    source.text = buf_bytes(ini);
    diag_init(&diag);
    config = config_read(&source, &diag);
    if (config == NULL)
        tool_die("the configuration cannot be read");
    diag_done(&diag);
    return config;
}

static struct config *plain_config(bool event)
{
    struct buf ini = BUF_EMPTY;
    struct config *config;

    for (int side = 0; side < SIDES; side++)
        buf_printf(&ini, "[%s]\nlisten = 127.0.0.1:0\nfields = k, %sv\nkey = k\n%s",
                   side == SIDE_LEFT ? "left" : "right", event ? "t timestamp_ms, " : "",
                   event ? "timestamp = t\nmax_ahead = off\n" : "");
    buf_printf(&ini, "[join]\ntime = %s\nsize = %dms\n[output]\nlisten = 127.0.0.1:0\n",
               event ? "event" : "processing", WINDOW_MS);
    config = parse(&ini);
    buf_done(&ini);
    return config;
}

enum shape { SHAPE_README, SHAPE_WHERE, SHAPE_QUOTED, SHAPE_COMPUTED, SHAPES };
static const char *const shape_words[SHAPES] = {"readme", "where", "quoted", "computed"};

static struct config *shape_config(enum shape shape)
{
    const char *type = shape == SHAPE_COMPUTED ? "string" : "bigint";
    const char *key = shape == SHAPE_COMPUTED ? "upper(%s)" : "%s";
    struct buf ini = BUF_EMPTY;
    struct config *config;

    buf_printf(&ini,
               "[left]\nname = orders\nlisten = 127.0.0.1:0\n"
               "fields = id %s, customer, amount double\n",
               type);
    buf_append_text(&ini, "key = ");
    buf_printf(&ini, key, "id");
    buf_printf(&ini,
               "\n%s[right]\nname = shipments\nlisten = 127.0.0.1:0\n"
               "fields = parcel, order_id %s, carrier\n",
               shape == SHAPE_WHERE ? "where = amount > 10\n" : "", type);
    buf_append_text(&ini, "key = ");
    buf_printf(&ini, key, "order_id");
    buf_printf(&ini,
               "\n%s[join]\nsize = %dms\n[output]\nlisten = 127.0.0.1:0\n"
               "select = orders.id, customer, amount, carrier\n",
               shape == SHAPE_WHERE ? "where = carrier <> 'Nobody'\n" : "", WINDOW_MS);
    config = parse(&ini);
    buf_done(&ini);
    return config;
}

/* Line `i` of a block; each key comes once a side, the right side's in another order. All lines of
 * a side have one length. */
static void append_line(struct buf *to, enum shape shape, enum side side, uint64_t keys, uint64_t i)
{
    uint64_t n = i * (side == SIDE_LEFT ? 1 : 7919) % keys;
    const char *quote = shape == SHAPE_QUOTED ? "\"" : "";
    char comma = shape == SHAPE_QUOTED ? ',' : ' ';
    const char *id = shape == SHAPE_COMPUTED ? "eu-" : "";

    n = n * 7907 % keys; /* neighbours in time are not neighbours by key */
    if (side == SIDE_LEFT)
        buf_printf(to,
                   "%s%07" PRIu64 ",%sOkafor%c Ben %04" PRIu64 "%s,%03" PRIu64 ".%" PRIu64 "5\n",
                   id, 1000000 + n, quote, comma, i % 10000, quote, 100 + i % 900, i % 10);
    else
        buf_printf(to, "P-%07" PRIu64 ",%s%07" PRIu64 ",Parcelo Express %04" PRIu64 "\n", i, id,
                   1000000 + n, i % 10000);
}

static struct bytes make_lines(enum shape shape, enum side side, uint64_t keys, uint64_t blocks)
{
    struct buf lines = BUF_EMPTY;

    for (uint64_t i = 0; i < keys * blocks; i++)
        append_line(&lines, shape, side, keys, i % keys);
    return buf_bytes(&lines); /* for as long as the program runs */
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

static void begin(struct run *r, struct config *config, const struct bytes *lines, uint64_t blocks)
{
    *r = (struct run){.config = config, .rows = BUF_EMPTY};
    r->engine = engine_new(r->config->plan);
    r->encoder = encoder_new(&r->config->output[OUTPUT_RESULTS].format, r->config->plan);
    r->chunk = malloc(TOOL_CHUNK);
    if (r->chunk == NULL)
        tool_die("memory");
    for (int side = 0; side < SIDES; side++) {
        r->decoder[side] = decoder_new(&r->config->input[side].format);
        batch_init(&r->batch[side], r->config->plan->side[side].form.field_count);
        r->file[side] = lines[side];
        r->block_bytes[side] = block_of(r->file[side], blocks);
    }
}

static void finish(struct run *r)
{
    for (int side = 0; side < SIDES; side++) {
        decoder_free(r->decoder[side]);
        batch_done(&r->batch[side]);
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

static bool find_shape(const char *word, enum shape *ret)
{
    for (int i = 0; i < SHAPES; i++)
        if (strcmp(word, shape_words[i]) == 0) {
            *ret = (enum shape)i;
            return true;
        }
    return false;
}

static uint64_t blocks_of(const char *word)
{
    return tool_number("BLOCKS: at least 4", word, WARM_BLOCKS + 1);
}

/* Returns BLOCKS. */
static uint64_t begin_by_arguments(struct run *r, int argc, char **argv)
{
    bool event = argc > 1 && strcmp(argv[1], "-e") == 0;
    struct bytes lines[SIDES];
    enum shape shape;
    uint64_t blocks;

    if (argc == 5 && strcmp(argv[1], "-s") == 0 && find_shape(argv[2], &shape)) {
        blocks = blocks_of(argv[4]);
        for (int side = 0; side < SIDES; side++)
            lines[side] =
                make_lines(shape, (enum side)side, tool_number("KEYS", argv[3], 1), blocks);
        begin(r, shape_config(shape), lines, blocks);
        return blocks;
    }
    if (argc - event != 4) {
        fputs("usage: inside [-e] LEFT_FILE RIGHT_FILE BLOCKS\n"
              "       inside -s readme|where|quoted|computed KEYS BLOCKS\n",
              stderr);
        exit(1);
    }
    blocks = blocks_of(argv[event + 3]);
    for (int side = 0; side < SIDES; side++)
        lines[side] = map_file(argv[event + 1 + side]);
    begin(r, plain_config(event), lines, blocks);
    return blocks;
}

int main(int argc, char **argv)
{
    int64_t best[STAGES] = {0};
    struct run r;
    uint64_t blocks = begin_by_arguments(&r, argc, argv);

    join_all(&r, blocks, best);
    if (r.results == 0)
        tool_die("nothing was joined");
    for (int i = 0; i < STAGES; i++)
        printf("%s=%.2f%c", stage_words[i], (double)best[i] / ((double)r.lines / (double)blocks),
               i + 1 < STAGES ? ' ' : '\n');
    finish(&r);
    return 0;
}
