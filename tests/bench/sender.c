/*
 * sender: sends a file to an input, with as little CPU as can be.
 *
 *     sender [-b BLOCK_BYTES] [-e EVERY_MS] [-s START_MS] [-p BYTES] [-w] ADDRESS PORT FILE
 *
 * The file (on tmpfs, so that no disk is measured) goes out by sendfile. With -b it goes block
 * by block: block i is not begun before START_MS + i * EVERY_MS of the wall clock (milliseconds
 * since the epoch), so that blocks fall into chosen windows of processing time, and two senders
 * with the same start move together. With -p it says `paused` when so many bytes are out (and
 * with -b after each block from there on), goes on when a line has come on standard input, and
 * says `sent` when all are. Then the sending side is
 * closed (-w: not before standard input ends), and the receiver's close is waited for: what it did
 * not read would be lost, so that is an error here. At the end one line on standard output:
 *
 *     start_ns=N end_ns=N late_us=N
 *
 * start_ns is when the first byte went out (after the pause, if there is one), end_ns when the
 * receiver had closed, late_us the longest time from a block's moment until the kernel had taken
 * all of it.
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct plan {
    uint64_t block_bytes; /* 0: the whole file at once */
    uint64_t every_ms;
    uint64_t start_ms;    /* 0: now */
    uint64_t pause_bytes; /* 0: no pause */
    bool wait_for_stdin;
};

struct report {
    int64_t start_ns;
    int64_t late_ns;
};

static void sleep_until_ms(uint64_t ms)
{
    struct timespec due = {
        .tv_sec = (time_t)(ms / 1000),
        .tv_nsec = (long)(ms % 1000) * 1000000,
    };

    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &due, NULL) == EINTR)
        continue;
}

static void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

static void pause_until_line(void)
{
    char byte = 0;

    say("paused");
    while (byte != '\n')
        if (read(STDIN_FILENO, &byte, 1) != 1)
            tool_die("nobody ended the pause");
}

static void send_block(int to, int from, uint64_t bytes)
{
    while (bytes > 0) {
        ssize_t n = sendfile(to, from, NULL, bytes);

        if (n < 0)
            tool_die("sendfile");
        if (n == 0)
            tool_die("the file became shorter");
        bytes -= (uint64_t)n;
    }
}

static int64_t late_ns(uint64_t due_ms)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((int64_t)now.tv_sec - (int64_t)(due_ms / 1000)) * 1000000000 + now.tv_nsec -
           (int64_t)(due_ms % 1000) * 1000000;
}

static struct report send_file(int to, int from, uint64_t file_bytes, const struct plan *plan)
{
    struct report report = {0};
    uint64_t due_ms = plan->start_ms;
    uint64_t sent = plan->pause_bytes < file_bytes ? plan->pause_bytes : file_bytes;

    send_block(to, from, sent);
    while (sent < file_bytes) {
        uint64_t block = file_bytes - sent;

        if (plan->block_bytes != 0 && plan->block_bytes < block)
            block = plan->block_bytes;
        if (due_ms != 0)
            sleep_until_ms(due_ms);
        if (plan->pause_bytes != 0)
            pause_until_line();
        if (report.start_ns == 0)
            report.start_ns = tool_now_ns();
        send_block(to, from, block);
        if (due_ms != 0 && late_ns(due_ms) > report.late_ns)
            report.late_ns = late_ns(due_ms);
        due_ms += plan->every_ms;
        sent += block;
    }
    if (plan->pause_bytes != 0)
        say("sent");
    return report;
}

static void wait_for_end(int fd)
{
    char byte = 0;
    ssize_t n = 0;

    while ((n = read(fd, &byte, 1)) != 0) {
        if (n < 0 && errno != EINTR)
            tool_die("waiting for the other end");
    }
}

static int usage(void)
{
    fputs("usage: sender [-b BLOCK_BYTES] [-e EVERY_MS] [-s START_MS] [-p BYTES] [-w]\n"
          "              ADDRESS PORT FILE\n",
          stderr);
    return 64;
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    struct report report = {0};
    struct stat file;
    int option = 0;
    int from = -1;
    int to = -1;

    while ((option = getopt(argc, argv, "b:e:s:p:w")) != -1) {
        if (option == 'b')
            plan.block_bytes = tool_number("bad block size", optarg, 1);
        else if (option == 'e')
            plan.every_ms = tool_number("bad -e", optarg, 0);
        else if (option == 's')
            plan.start_ms = tool_number("bad start", optarg, 0);
        else if (option == 'p')
            plan.pause_bytes = tool_number("bad -p", optarg, 1);
        else if (option == 'w')
            plan.wait_for_stdin = true;
        else
            return usage();
    }
    if (argc - optind != 3)
        return usage();
    signal(SIGPIPE, SIG_IGN);
    from = open(argv[optind + 2], O_RDONLY | O_CLOEXEC);
    if (from < 0 || fstat(from, &file) != 0)
        tool_die(argv[optind + 2]);
    to = tool_connect(argv[optind], argv[optind + 1]);
    report = send_file(to, from, (uint64_t)file.st_size, &plan);
    if (plan.wait_for_stdin)
        wait_for_end(STDIN_FILENO);
    if (shutdown(to, SHUT_WR) != 0)
        tool_die("shutdown");
    wait_for_end(to);
    printf("start_ns=%lld end_ns=%lld late_us=%lld\n", (long long)report.start_ns,
           (long long)tool_now_ns(), (long long)(report.late_ns / 1000));
    return 0;
}
