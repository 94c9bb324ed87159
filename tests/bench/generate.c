/*
 * generate: the two input files of a run.
 *
 *     generate [-t BLOCK_MS] [-r REPEATS] [-f] [-l EVERY] [-m PERCENT] [-z] [-j] [-x]
 *              LINE_BYTES KEYS BLOCKS LEFT_FILE RIGHT_FILE
 *
 * Each file has BLOCKS blocks of KEYS lines `key,value` of exactly LINE_BYTES, LF included.
 * In each block every key comes once, on each side in an order of its own: a block that falls
 * into one window gives exactly KEYS pairs and leaves no line unmatched. The result `k,v,k,v`
 * of a pair has as many bytes as its two lines, so a join writes as much as it reads.
 *
 *     -t  lines are `key,time,value`. Times are milliseconds since the epoch and go on evenly
 *         in the order of the lines, BLOCK_MS a block, the same on both sides; the first block
 *         begins at TIME_BEGIN, which is a multiple of all lengths of windows that are used
 *     -r  every key comes so many times in each block
 *     -f  fresh keys: none comes in two blocks
 *     -l  every EVERYth line of the second half of a block (but the last block) is written too
 *         late: in the middle of the next block
 *     -m  so many of a hundred keys of the right side are also on the left (100)
 *     -z  the left side's keys are drawn by Zipf's law (exponent 1) from those of the right: each
 *         line there still has REPEATS partners, so the number of results is what it was
 *     -j  JSON: {"k":"...","t":...,"v":"..."}
 *     -x  and the first line of one more block: with it, time is beyond the blocks before
 *
 * Keys are ten digits. A value starts with side, block and line number: all lines differ, and
 * a pair made across blocks or sides is seen for what it is. The same arguments always give
 * the same files.
 */
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_BEGIN UINT64_C(1700000000000)
/* Keys of the right side that are not on the left are so far off; before they are permuted. */
#define STRANGE (UINT32_C(1) << 31)

enum {
    VALUE_HEAD = 12, /* side 1, block 4, line number 7 */
    KEY_BYTES = 10,
    TIME_BYTES = 13,
    LINE_MAX_BYTES = 4096,
    LINES_MAX = 10000000, /* of a block */
    BLOCKS_MAX = 10000,
    PERCENT = 100,
};

struct shape {
    size_t line_bytes;
    size_t keys;
    size_t repeats;
    uint64_t blocks;
    uint64_t block_ms;   /* 0: no times */
    uint64_t late_every; /* 0: none are */
    uint64_t match;      /* per cent */
    bool fresh, zipf, json, extra;
};

/* One side's file while it is written. */
struct side {
    FILE *file;
    char letter;
    uint64_t random;
    uint32_t *keys; /* of the block, in the order of its lines */
    char *late;     /* lines of the last block that have not been written yet */
    size_t late_count;
};

/* splitmix64. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void shuffle(uint32_t *keys, size_t count, uint64_t *state)
{
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = random_next(state) % (i + 1);
        uint32_t key = keys[i];

        keys[i] = keys[j];
        keys[j] = key;
    }
}

static void fill(char *text, size_t length, uint64_t *state)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < length; i++) {
        if (i % 16 == 0)
            bits = random_next(state);
        text[i] = (char)('a' + (bits & 15));
        bits >>= 4;
    }
}

static size_t lines_of_block(const struct shape *shape)
{
    return shape->keys * shape->repeats;
}

/* From 0 up to below `count`, the lower the more often: n with a weight of 1 / (n + 1). */
static size_t draw_by_zipf(size_t count, uint64_t *state)
{
    double u = (double)(random_next(state) >> 11) * 0x1p-53;
    size_t n = (size_t)exp(u * log((double)count + 1)) - 1;

    return n < count ? n : count - 1;
}

/* An odd factor permutes the numbers of 32 bits: distinct keys without a common beginning. */
static void set_keys(const struct shape *shape, struct side *side, uint64_t block)
{
    uint64_t first = shape->fresh ? block * shape->keys : 0;

    for (size_t i = 0; i < lines_of_block(shape); i++) {
        size_t key = i / shape->repeats;

        if (shape->zipf && side->letter == 'L')
            key = draw_by_zipf(shape->keys, &side->random);
        if (side->letter == 'R' && key % PERCENT >= shape->match)
            key += STRANGE;
        side->keys[i] = (uint32_t)((first + key) * 2654435761);
    }
}

static char *put_text(char *to, const char *text)
{
    size_t n = strlen(text);

    memcpy(to, text, n);
    return to + n;
}

static char *put_digits(char *to, uint64_t number, size_t width)
{
    for (size_t i = width; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
    return to + width;
}

static void make_line(char *line, const struct shape *shape, struct side *side, uint64_t block,
                      size_t number)
{
    uint64_t time =
        TIME_BEGIN + block * shape->block_ms + number * shape->block_ms / lines_of_block(shape);
    char *p = line, *end = line + shape->line_bytes - (shape->json ? 3 : 1);

    p = put_text(p, shape->json ? "{\"k\":\"" : "");
    p = put_digits(p, side->keys[number], KEY_BYTES);
    p = put_text(p, shape->json ? "\"," : ",");
    if (shape->block_ms != 0) {
        p = put_text(p, shape->json ? "\"t\":" : "");
        p = put_digits(p, time, TIME_BYTES);
        *p++ = ',';
    }
    p = put_text(p, shape->json ? "\"v\":\"" : "");
    *p++ = side->letter;
    p = put_digits(p, block, 4);
    p = put_digits(p, number, 7);
    fill(p, (size_t)(end - p), &side->random);
    put_text(end, shape->json ? "\"}\n" : "\n");
}

static void write_line(const struct shape *shape, struct side *side, const char *line)
{
    fwrite(line, 1, shape->line_bytes, side->file);
}

static void write_late(const struct shape *shape, struct side *side)
{
    for (size_t i = 0; i < side->late_count; i++)
        write_line(shape, side, side->late + i * shape->line_bytes);
    side->late_count = 0;
}

static void write_block(const struct shape *shape, struct side *side, uint64_t block)
{
    char line[2 * LINE_MAX_BYTES];
    size_t count = lines_of_block(shape);
    bool some_late = shape->late_every != 0 && block + 1 < shape->blocks;

    for (size_t i = 0; i < count; i++) {
        if (i == count / 2)
            write_late(shape, side);
        make_line(line, shape, side, block, i);
        if (some_late && i >= count / 2 && i % shape->late_every == 0)
            memcpy(side->late + side->late_count++ * shape->line_bytes, line, shape->line_bytes);
        else
            write_line(shape, side, line);
    }
}

static void write_blocks(const struct shape *shape, struct side *side)
{
    char line[2 * LINE_MAX_BYTES];

    for (uint64_t block = 0; block < shape->blocks + shape->extra; block++) {
        if (block == 0 || shape->fresh)
            set_keys(shape, side, block);
        shuffle(side->keys, lines_of_block(shape), &side->random);
        if (block < shape->blocks) {
            write_block(shape, side, block);
        } else {
            make_line(line, shape, side, block, 0);
            write_line(shape, side, line);
        }
    }
}

static void write_file(const char *path, char letter, const struct shape *shape)
{
    size_t count = lines_of_block(shape);
    struct side side = {
        .file = fopen(path, "w"),
        .letter = letter,
        .random = (uint64_t)letter,
        .keys = calloc(count, sizeof(*side.keys)),
        .late = calloc(shape->late_every != 0 ? count : 1, shape->line_bytes),
    };

    if (side.file == NULL || side.keys == NULL || side.late == NULL)
        tool_die(path);
    write_blocks(shape, &side);
    if (ferror(side.file) || fclose(side.file) != 0)
        tool_die(path);
    free(side.keys);
    free(side.late);
}

static int usage(void)
{
    fputs("usage: generate [-t BLOCK_MS] [-r REPEATS] [-f] [-l EVERY] [-m PERCENT] [-z] [-j] [-x]\n"
          "                LINE_BYTES KEYS BLOCKS LEFT_FILE RIGHT_FILE\n",
          stderr);
    return 64;
}

static void check(const struct shape *shape)
{
    size_t head = KEY_BYTES + 1 + VALUE_HEAD + (shape->block_ms != 0 ? TIME_BYTES + 1 : 0) +
                  (shape->json ? strlen("{'k':'''t':'v':''}") : 0);

    errno = ERANGE;
    if (shape->line_bytes <= head || shape->line_bytes > LINE_MAX_BYTES)
        tool_die("a line has at least 25 bytes, with -t 39, with -j 18 more, and at most 4096");
    if (shape->keys > LINES_MAX || shape->repeats > LINES_MAX / shape->keys ||
        shape->blocks >= BLOCKS_MAX ||
        (shape->fresh && shape->keys * (shape->blocks + 1) > STRANGE))
        tool_die("at most 10000000 lines a block, 9999 blocks, 2147483648 fresh keys");
    if (shape->match > PERCENT)
        tool_die("-m is at most 100");
}

int main(int argc, char **argv)
{
    struct shape shape = {.repeats = 1, .match = PERCENT};
    int option = 0;

    while ((option = getopt(argc, argv, "t:r:fl:m:zjx")) != -1) {
        if (option == 't')
            shape.block_ms = tool_number("bad -t", optarg, 1);
        else if (option == 'r')
            shape.repeats = tool_number("bad -r", optarg, 1);
        else if (option == 'f')
            shape.fresh = true;
        else if (option == 'l')
            shape.late_every = tool_number("bad -l", optarg, 1);
        else if (option == 'm')
            shape.match = tool_number("bad -m", optarg, 0);
        else if (option == 'z')
            shape.zipf = true;
        else if (option == 'j')
            shape.json = true;
        else if (option == 'x')
            shape.extra = true;
        else
            return usage();
    }
    if (argc - optind != 5)
        return usage();
    shape.line_bytes = tool_number("bad LINE_BYTES", argv[optind], 1);
    shape.keys = tool_number("KEYS is at least 1", argv[optind + 1], 1);
    shape.blocks = tool_number("BLOCKS is at least 1", argv[optind + 2], 1);
    check(&shape);
    write_file(argv[optind + 3], 'L', &shape);
    write_file(argv[optind + 4], 'R', &shape);
    return 0;
}
