/*
 * sink: a subscriber that costs next to nothing.
 *
 *     sink [-n BYTES ...] [-w FILE] ADDRESS PORT
 *
 * Connects to an output and receives until its end, with MSG_TRUNC: the kernel drops the bytes
 * without copying them. With -w they are written to FILE instead, for comparing. On standard
 * output, at once when BYTES have come (once for each of up to 64 -n), and at the end:
 *
 *     reached
 *     bytes=N first_ns=N last_ns=N
 *
 * first_ns and last_ns are when the first and the last byte came (0: none did).
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static char chunk[TOOL_CHUNK];

enum { MARKS = 64 };

struct marks {
    uint64_t bytes[MARKS];
    int count;
};

/* Bytes received, 0 at the end. */
static size_t receive(int from, int file)
{
    ssize_t n = 0;

    do
        n = recv(from, chunk, sizeof(chunk), file < 0 ? MSG_TRUNC : 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        tool_die("recv");
    return (size_t)n;
}

static void keep(int file, size_t bytes)
{
    size_t written = 0;

    while (file >= 0 && written < bytes) {
        ssize_t n = write(file, chunk + written, bytes - written);

        if (n < 0)
            tool_die("write");
        written += (size_t)n;
    }
}

static void announce(const struct marks *marks, uint64_t before, uint64_t after)
{
    for (int i = 0; i < marks->count; i++) {
        if (before < marks->bytes[i] && after >= marks->bytes[i]) {
            puts("reached");
            fflush(stdout);
        }
    }
}

static void drain(int from, int file, const struct marks *marks)
{
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    uint64_t bytes = 0;
    size_t n = 0;

    while ((n = receive(from, file)) != 0) {
        last_ns = tool_now_ns();
        if (bytes == 0)
            first_ns = last_ns;
        keep(file, n);
        announce(marks, bytes, bytes + n);
        bytes += n;
    }
    printf("bytes=%llu first_ns=%lld last_ns=%lld\n", (unsigned long long)bytes,
           (long long)first_ns, (long long)last_ns);
}

static int usage(void)
{
    fputs("usage: sink [-n BYTES ...] [-w FILE] ADDRESS PORT\n", stderr);
    return 64;
}

int main(int argc, char **argv)
{
    struct marks marks = {0};
    int option = 0;
    int file = -1;

    while ((option = getopt(argc, argv, "n:w:")) != -1) {
        if (option == 'n' && marks.count < MARKS) {
            marks.bytes[marks.count++] = tool_number("bad -n", optarg, 1);
        } else if (option == 'w') {
            file = open(optarg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
            if (file < 0)
                tool_die(optarg);
        } else {
            return usage();
        }
    }
    if (argc - optind != 2)
        return usage();
    drain(tool_connect(argv[optind], argv[optind + 1]), file, &marks);
    return 0;
}
