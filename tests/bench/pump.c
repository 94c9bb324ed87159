/*
 * pump: the floor. What it costs to move the bytes of a join and do nothing with them.
 *
 *     pump [LEFT_PORT RIGHT_PORT OUTPUT_PORT]        (on 127.0.0.1; default 0: any free one)
 *
 * One connection on each input, one subscriber, libevent's `struct event`, and one read and one
 * write per 256 KiB: every byte goes to the subscriber as it came. A join must do at least this
 * much, so its CPU can be compared with the pump's.
 *
 * Like joind it says `ready: left=... right=... output=...` on standard error when its ports are
 * open. It ends when both inputs have ended and all is written, and then prints on standard
 * output what it used itself, the wall time from when all three were connected:
 *
 *     bytes=N cpu_us=N wall_us=N minflt=N
 */
#include "tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct pump {
    struct event_base *base;
    struct event *in[2]; /* NULL: that input has ended */
    struct event *out;   /* waited for only while there is a rest */
    char *rest;          /* the part of `chunk` that the subscriber has not taken yet */
    size_t rest_bytes;
    uint64_t bytes;
};

static char chunk[TOOL_CHUNK] __attribute__((aligned(4096)));

static void write_rest(struct pump *p)
{
    ssize_t n = write(event_get_fd(p->out), p->rest, p->rest_bytes);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        tool_die("write");
    if (n > 0) {
        p->rest += n;
        p->rest_bytes -= (size_t)n;
    }
}

/* There is one chunk: while a rest of it waits for the subscriber, nothing is read. */
static void hold_inputs(struct pump *p, bool hold)
{
    for (int side = 0; side < 2; side++) {
        if (p->in[side] == NULL)
            continue;
        if (hold)
            event_del(p->in[side]);
        else
            event_add(p->in[side], NULL);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct pump *p = arg;

    (void)fd;
    (void)what;
    write_rest(p);
    if (p->rest_bytes == 0) {
        event_del(p->out);
        hold_inputs(p, false);
    }
}

static void input_ended(struct pump *p, evutil_socket_t fd)
{
    int side = p->in[0] != NULL && event_get_fd(p->in[0]) == fd ? 0 : 1;

    event_free(p->in[side]);
    p->in[side] = NULL;
    close(fd);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct pump *p = arg;
    ssize_t n = read(fd, chunk, sizeof(chunk));

    (void)what;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        tool_die("read");
    if (n == 0)
        input_ended(p, fd);
    if (n <= 0)
        return;
    p->bytes += (size_t)n;
    p->rest = chunk;
    p->rest_bytes = (size_t)n;
    write_rest(p);
    if (p->rest_bytes != 0) {
        hold_inputs(p, true);
        event_add(p->out, NULL);
    }
}

static int listen_on(uint64_t port, const char *name)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)port),
    };
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        tool_die(name);
    fprintf(stderr, " %s=127.0.0.1:%d", name, ntohs(address.sin_port));
    return fd;
}

static struct event *take(struct pump *p, int listening, short what, event_callback_fn call)
{
    struct event *event = NULL;
    int fd = accept(listening, NULL, NULL);

    if (fd < 0 || evutil_make_socket_nonblocking(fd) != 0)
        tool_die("accept");
    event = event_new(p->base, fd, what | EV_PERSIST, call, p);
    if (event == NULL)
        tool_die("event_new");
    return event;
}

static void report(const struct pump *p, int64_t start_ns)
{
    long long wall_us = (tool_now_ns() - start_ns) / 1000;
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    printf("bytes=%llu cpu_us=%lld wall_us=%lld minflt=%ld\n", (unsigned long long)p->bytes,
           (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec +
               used.ru_stime.tv_usec,
           wall_us, used.ru_minflt);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"left", "right", "output"};
    struct pump p = {.base = event_base_new()};
    int listening[3];
    int64_t start_ns = 0;
    int on = 1;

    if (p.base == NULL || (argc != 1 && argc != 4)) {
        fputs("usage: pump [LEFT_PORT RIGHT_PORT OUTPUT_PORT]\n", stderr);
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    fputs("ready:", stderr);
    for (int i = 0; i < 3; i++)
        listening[i] = listen_on(argc == 4 ? tool_number("bad port", argv[i + 1], 0) : 0, names[i]);
    fputs("\n", stderr);

    /* The kernel lets senders connect and begin, whoever of the three is taken first. */
    p.out = take(&p, listening[2], EV_WRITE, on_writable);
    p.in[0] = take(&p, listening[0], EV_READ, on_readable);
    p.in[1] = take(&p, listening[1], EV_READ, on_readable);
    /* As joind does: latency is compared too. */
    setsockopt(event_get_fd(p.out), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    start_ns = tool_now_ns();
    hold_inputs(&p, false);
    event_base_dispatch(p.base); /* until no event is waited for: both ended, no rest */
    report(&p, start_ns);
    event_free(p.out);
    event_base_free(p.base);
    return 0;
}
