/*
 * latency: how long it takes until a record's result is here.
 *
 *     latency [-r RECORDS_A_SECOND] [-s SECONDS] [-w WARM_SECONDS]
 *             LEFT_ADDRESS LEFT_PORT RIGHT_ADDRESS RIGHT_PORT OUTPUT_ADDRESS OUTPUT_PORT
 *
 * Pairs of 40-byte lines `key,time,value` go out, a left line and then a right one with the same
 * key, RECORDS_A_SECOND of both sides together: every TICK_NS what is due, in one write a side.
 * No key comes twice. What comes back is, of a join, `left,right` as soon as the right line is
 * there, and of the pump each line as it was. So in both a line that ends with the value of a
 * right one tells when that one has been answered. Counted from the moment before its write;
 * answers of the first WARM_SECONDS do not count. At the end one line on standard output:
 *
 *     answers=N p50_ns=N p99_ns=N max_ns=N
 */
#include "tool.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS       INT64_C(100000)
#define SECOND_NS     INT64_C(1000000000)
#define PATIENCE_S    10 /* without an answer */
#define PAIRS_MAX     UINT64_C(100000000)
#define PAIRS_A_WRITE 1000

enum {
    LINE_BYTES = 40,
    KEY_BYTES = 10,
    TIME_BYTES = 13,
    NUMBER_BYTES = 13, /* behind the letter of the side, at the end of a line */
};

struct run {
    int input[2], output;
    uint64_t rate, warm_pairs, pairs;
    int64_t *sent_ns; /* of each pair; written before its bytes can be answered */
    int64_t *took_ns; /* -1: no answer yet */
    uint64_t answers;
};

static char *put_digits(char *to, uint64_t number, size_t width)
{
    for (size_t i = width; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
    return to + width;
}

static void put_line(char *to, char letter, uint64_t number, uint64_t time_ms)
{
    to = put_digits(to, (uint32_t)(number * 2654435761), KEY_BYTES);
    *to++ = ',';
    to = put_digits(to, time_ms, TIME_BYTES);
    *to++ = ',';
    *to++ = letter;
    to = put_digits(to, number, NUMBER_BYTES);
    *to = '\n';
}

static void send_all(int to, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(to, bytes, n, MSG_NOSIGNAL);

        if (sent < 0)
            tool_die("send");
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void send_pairs(struct run *r, uint64_t first, uint64_t count)
{
    static char lines[2][PAIRS_A_WRITE * LINE_BYTES];
    struct timespec now;
    int64_t now_ns;

    clock_gettime(CLOCK_REALTIME, &now);
    for (uint64_t i = 0; i < count; i++)
        for (int side = 0; side < 2; side++)
            put_line(lines[side] + i * LINE_BYTES, "LR"[side], first + i,
                     (uint64_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000));
    send_all(r->input[0], lines[0], count * LINE_BYTES);
    now_ns = tool_now_ns();
    for (uint64_t i = 0; i < count; i++)
        __atomic_store_n(&r->sent_ns[first + i], now_ns, __ATOMIC_RELEASE);
    send_all(r->input[1], lines[1], count * LINE_BYTES);
}

static void *send_in_time(void *arg)
{
    struct run *r = arg;
    int64_t start_ns = tool_now_ns();
    uint64_t sent = 0;

    prctl(PR_SET_TIMERSLACK, 1);
    for (int64_t tick = 1; sent < r->pairs; tick++) {
        int64_t due_ns = start_ns + tick * TICK_NS;
        struct timespec due = {due_ns / SECOND_NS, due_ns % SECOND_NS};
        uint64_t pairs = (uint64_t)(tick * TICK_NS) * (r->rate / 2) / SECOND_NS;

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        pairs = pairs < r->pairs ? pairs : r->pairs;
        while (sent < pairs) {
            uint64_t count = pairs - sent < PAIRS_A_WRITE ? pairs - sent : PAIRS_A_WRITE;
            send_pairs(r, sent, count);
            sent += count;
        }
    }
    return NULL;
}

static void note_answer(struct run *r, const char *line, size_t n, int64_t now_ns)
{
    uint64_t number = 0;

    if (n < LINE_BYTES - 1)
        tool_die("a line is too short");
    line += n - NUMBER_BYTES;
    if (line[-1] == 'L')
        return;
    for (int i = 0; i < NUMBER_BYTES; i++)
        number = number * 10 + (uint64_t)(line[i] - '0');
    if (line[-1] != 'R' || number >= r->pairs || r->took_ns[number] != -1)
        tool_die("not a line of ours, or one that was here before");
    r->took_ns[number] = now_ns - __atomic_load_n(&r->sent_ns[number], __ATOMIC_ACQUIRE);
    r->answers++;
}

static void receive(struct run *r)
{
    static char bytes[TOOL_CHUNK];
    size_t have = 0;

    while (r->answers < r->pairs) {
        ssize_t n = recv(r->output, bytes + have, sizeof(bytes) - have, 0);
        int64_t now_ns = tool_now_ns();
        char *line = bytes, *end;

        if (n <= 0)
            tool_die("answers are missing");
        have += (size_t)n;
        while ((end = memchr(line, '\n', (size_t)(bytes + have - line))) != NULL) {
            note_answer(r, line, (size_t)(end - line), now_ns);
            line = end + 1;
        }
        have = (size_t)(bytes + have - line);
        memmove(bytes, line, have);
    }
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void report(struct run *r)
{
    int64_t *took = r->took_ns + r->warm_pairs;
    uint64_t count = r->pairs - r->warm_pairs;

    qsort(took, count, sizeof(*took), by_time);
    printf("answers=%llu p50_ns=%lld p99_ns=%lld max_ns=%lld\n", (unsigned long long)count,
           (long long)took[count / 2], (long long)took[count - 1 - count / 100],
           (long long)took[count - 1]);
}

static void open_all(struct run *r, char **argv)
{
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int on = 1;

    for (int side = 0; side < 2; side++, argv += 2) {
        r->input[side] = tool_connect(argv[0], argv[1]);
        setsockopt(r->input[side], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    r->output = tool_connect(argv[0], argv[1]);
    setsockopt(r->output, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

static int usage(void)
{
    fputs("usage: latency [-r RECORDS_A_SECOND] [-s SECONDS] [-w WARM_SECONDS]\n"
          "               LEFT_ADDRESS LEFT_PORT RIGHT_ADDRESS RIGHT_PORT OUTPUT_ADDRESS "
          "OUTPUT_PORT\n",
          stderr);
    return 64;
}

int main(int argc, char **argv)
{
    struct run r = {.rate = 50000};
    uint64_t seconds = 2, warm_seconds = 1;
    pthread_t sender;
    int option = 0;

    while ((option = getopt(argc, argv, "r:s:w:")) != -1) {
        if (option == 'r')
            r.rate = tool_number("bad -r", optarg, 2);
        else if (option == 's')
            seconds = tool_number("bad -s", optarg, 1);
        else if (option == 'w')
            warm_seconds = tool_number("bad -w", optarg, 0);
        else
            return usage();
    }
    if (argc - optind != 6)
        return usage();
    r.warm_pairs = warm_seconds * (r.rate / 2);
    r.pairs = r.warm_pairs + seconds * (r.rate / 2);
    r.sent_ns = malloc(r.pairs * sizeof(*r.sent_ns));
    r.took_ns = malloc(r.pairs * sizeof(*r.took_ns));
    if (r.pairs > PAIRS_MAX || r.sent_ns == NULL || r.took_ns == NULL)
        tool_die("too many records");
    memset(r.sent_ns, -1, r.pairs * sizeof(*r.sent_ns)); /* touched before time counts */
    memset(r.took_ns, -1, r.pairs * sizeof(*r.took_ns));
    open_all(&r, argv + optind);
    errno = pthread_create(&sender, NULL, send_in_time, &r);
    if (errno != 0)
        tool_die("pthread_create");
    receive(&r);
    pthread_join(sender, NULL);
    report(&r);
    free(r.sent_ns);
    free(r.took_ns);
    return 0;
}
