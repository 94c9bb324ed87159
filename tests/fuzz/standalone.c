/*
 * standalone CORPUS [MUTATIONS [SEED]]: a fuzzer without libFuzzer.
 *
 * Gives each file of the folder CORPUS to the function, then so many mutations of
 * them. Mutation i is made from SEED + i alone, so one that fails can be made again:
 * `standalone CORPUS 1 THAT_SEED`.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "fuzz.h"

#define FILES_MAX   200
#define MUTATED_MAX 20000 /* bytes of a mutated input */

static struct buf files[FILES_MAX];
static size_t file_count;

static char now_doing[300] = "nothing yet\n"; /* for the signal handler */

static void on_fault(int signal_number)
{
    ssize_t ignored = write(STDERR_FILENO, now_doing, strlen(now_doing));

    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static size_t below(uint64_t *random, size_t n)
{
    return n > 0 ? (size_t)(random_next(random) % n) : 0;
}

/* --- the corpus --- */

static bool read_file(const char *folder, const char *name, struct buf *to)
{
    char path[1000];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (f == NULL)
        return false;
    while ((n = fread(buf_reserve(to, 4096), 1, 4096, f)) > 0)
        buf_advance(to, n);
    fclose(f);
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* By name: the order of a folder is not the same everywhere. */
static void read_corpus(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_visible, by_name);

    for (int i = 0; i < count; i++) {
        if (file_count < FILES_MAX && read_file(folder, names[i]->d_name, &files[file_count]))
            file_count++;
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* --- mutations --- */

static const struct bytes tokens[] = {
    BYTES_LIT("\n"),
    BYTES_LIT("\r\n"),
    BYTES_LIT("\r"),
    BYTES_LIT("\""),
    BYTES_LIT("\"\""),
    BYTES_LIT(","),
    BYTES_LIT("\0"),
    BYTES_LIT("\xFF"),
    BYTES_LIT("\xEF\xBB\xBF"),
    BYTES_LIT("\\N"),
    BYTES_LIT(",\""),
    BYTES_LIT("\"\n"),
    BYTES_LIT("key"),
    BYTES_LIT("n"),
    BYTES_LIT("1"),
    BYTES_LIT("-0"),
    BYTES_LIT("="),
    BYTES_LIT("["),
    BYTES_LIT("]"),
    BYTES_LIT(" ; "),
    BYTES_LIT("\n[left]\n"),
    BYTES_LIT("9223372036854775808"),
    BYTES_LIT("0123456789012345678901234"),
};

/* Replaces `cut` bytes at `at` by `put`. */
static void splice(struct buf *b, size_t at, size_t cut, struct bytes put)
{
    struct buf made = BUF_EMPTY;

    buf_append(&made, buf_data(b), at);
    buf_append_bytes(&made, put);
    buf_append(&made, buf_data(b) + at + cut, buf_length(b) - at - cut);
    buf_done(b);
    *b = made;
}

static struct bytes some_of(const struct buf *b, uint64_t *random)
{
    size_t from = below(random, buf_length(b));
    size_t n = below(random, buf_length(b) - from + 1);

    return (struct bytes){buf_data(b) + from, n};
}

static void mutate_once(struct buf *b, uint64_t *random)
{
    size_t n = buf_length(b), at = below(random, n + 1), left = n - at;
    struct bytes piece;
    char byte = (char)random_next(random);

    switch (below(random, 6)) {
    case 0: /* another byte */
        splice(b, at, left > 0, (struct bytes){&byte, 1});
        break;
    case 1: /* a token */
        splice(b, at, 0, tokens[below(random, sizeof(tokens) / sizeof(tokens[0]))]);
        break;
    case 2: /* one byte gone */
        splice(b, at, left > 0, BYTES_LIT(""));
        break;
    case 3: /* some bytes gone */
        splice(b, at, below(random, left + 1), BYTES_LIT(""));
        break;
    case 4: /* a piece of it again */
        piece = some_of(b, random);
        splice(b, at, 0, piece);
        break;
    default: /* a piece of another file */
        piece = some_of(&files[below(random, file_count)], random);
        splice(b, at, below(random, 2) * below(random, left + 1), piece);
        break;
    }
}

static void run(const struct buf *b)
{
    size_t n = buf_length(b);
    uint8_t *exact = mem_alloc(n); /* so that a look behind the end is seen */

    memcpy(exact, buf_data(b), n);
    LLVMFuzzerTestOneInput(exact, n);
    mem_free(exact);
}

static void run_mutation(uint64_t seed)
{
    uint64_t random = seed;
    struct buf b = BUF_EMPTY;

    snprintf(now_doing, sizeof(now_doing), "in the mutation of seed %llu\n",
             (unsigned long long)seed);
    buf_append_bytes(&b, buf_bytes(&files[below(&random, file_count)]));
    for (size_t i = 1 + below(&random, 8); i > 0; i--)
        mutate_once(&b, &random);
    if (buf_length(&b) <= MUTATED_MAX)
        run(&b);
    buf_done(&b);
}

int main(int argc, char **argv)
{
    uint64_t mutations = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;

    if (argc < 2) {
        fprintf(stderr, "usage: %s CORPUS [MUTATIONS [SEED]]\n", argv[0]);
        return 64;
    }
    signal(SIGABRT, on_fault);
    signal(SIGSEGV, on_fault);
    read_corpus(argv[1]);
    if (file_count == 0) {
        fprintf(stderr, "no files in %s\n", argv[1]);
        return 1;
    }
    for (size_t i = 0; i < file_count; i++) {
        snprintf(now_doing, sizeof(now_doing), "in file %zu of the corpus\n", i + 1);
        run(&files[i]);
    }
    printf("%zu files; %llu mutations from seed %llu on\n", file_count,
           (unsigned long long)mutations, (unsigned long long)seed);
    fflush(stdout);
    for (uint64_t i = 0; i < mutations; i++)
        run_mutation(seed + i);
    for (size_t i = 0; i < file_count; i++)
        buf_done(&files[i]);
    return 0;
}
