/*
 * generate: the two input files of a run.
 *
 *     generate LINE_BYTES KEYS BLOCKS LEFT_FILE RIGHT_FILE
 *
 * Each file has BLOCKS blocks of KEYS lines `key,value` of exactly LINE_BYTES, LF included.
 * In each block every key comes once, on each side in an order of its own: a block that falls
 * into one window gives exactly KEYS pairs and leaves no line unmatched. The result `k,v,k,v`
 * of a pair has as many bytes as its two lines, so a join writes as much as it reads.
 *
 * Keys are ten digits. A value starts with side, block and line number: all lines differ, and
 * a pair made across blocks or sides is seen for what it is. The same arguments always give
 * the same files.
 */
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LINE_HEAD = 23, /* key 10, comma, side 1, block 4, line number 7 */
    LINE_MAX_BYTES = 4096,
    KEYS_MAX = 10000000,
    BLOCKS_MAX = 10000,
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

static void write_block(FILE *file, char side, uint64_t block, size_t line_bytes,
                        const uint32_t *keys, size_t key_count, uint64_t *state)
{
    char line[LINE_MAX_BYTES + 1];

    for (size_t i = 0; i < key_count; i++) {
        snprintf(line, sizeof(line), "%010u,%c%04u%07u", keys[i], side, (unsigned)block,
                 (unsigned)i);
        fill(line + LINE_HEAD, line_bytes - LINE_HEAD - 1, state);
        line[line_bytes - 1] = '\n';
        fwrite(line, 1, line_bytes, file);
    }
}

static void write_file(const char *path, char side, size_t line_bytes, size_t key_count,
                       uint64_t blocks)
{
    uint64_t state = (uint64_t)side;
    uint32_t *keys = calloc(key_count, sizeof(*keys));
    FILE *file = fopen(path, "w");

    if (keys == NULL || file == NULL)
        tool_die(path);
    /* An odd factor permutes the numbers of 32 bits: distinct keys without a common beginning. */
    for (size_t i = 0; i < key_count; i++)
        keys[i] = (uint32_t)(i * 2654435761);
    for (uint64_t block = 0; block < blocks; block++) {
        shuffle(keys, key_count, &state);
        write_block(file, side, block, line_bytes, keys, key_count, &state);
    }
    if (ferror(file) || fclose(file) != 0)
        tool_die(path);
    free(keys);
}

int main(int argc, char **argv)
{
    size_t line_bytes = 0;
    size_t key_count = 0;
    uint64_t blocks = 0;

    if (argc != 6) {
        fputs("usage: generate LINE_BYTES KEYS BLOCKS LEFT_FILE RIGHT_FILE\n", stderr);
        return 64;
    }
    line_bytes = tool_number("LINE_BYTES is at least 24", argv[1], LINE_HEAD + 1);
    key_count = tool_number("KEYS is at least 1", argv[2], 1);
    blocks = tool_number("BLOCKS is at least 1", argv[3], 1);
    if (line_bytes > LINE_MAX_BYTES || key_count > KEYS_MAX || blocks >= BLOCKS_MAX) {
        errno = ERANGE;
        tool_die("at most 4096 bytes a line, 10000000 keys, 9999 blocks");
    }
    write_file(argv[4], 'L', line_bytes, key_count, blocks);
    write_file(argv[5], 'R', line_bytes, key_count, blocks);
    return 0;
}
