#include "flow/source.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "flow/input.h"
#include "flow/pump.h"
#include "io/log.h"

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct source *s = arg;

    (void)fd;
    (void)what;
    pump_ready(s->input->pump, s);
}

enum source_kind source_kind_of(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
        return SOURCE_SOCKET;
    /* Files, and devices such as /dev/null, cannot be waited for. */
    return S_ISFIFO(st.st_mode) || isatty(fd) ? SOURCE_STREAM : SOURCE_REGULAR;
}

struct source *source_new(struct input *in, int fd, enum source_kind kind, const char *peer)
{
    struct source *s = mem_alloc_zeroed(1, sizeof(*s));

    list_link_init(&s->link);
    list_link_init(&s->ready_link);
    s->input = in;
    s->kind = kind;
    s->fd = fd;
    s->peer = mem_strdup(peer);
    s->decoder = decoder_new(&in->config->format);
    s->end = INPUT_GOES_ON;
    buf_init(&s->tail);
    engine_feed_open(in->pump->engine, &s->feed, in->side);
    if (kind == SOURCE_REGULAR)
        engine_never_idle(in->pump->engine, in->side);
    event_assign(&s->readable, in->base, fd, EV_READ | EV_PERSIST, on_readable, s);
    return s;
}

void source_free(struct source *s)
{
    if (s == NULL)
        return;
    source_unwatch(s);
    list_remove(&s->link);
    list_remove(&s->ready_link);
    engine_feed_close(s->input->pump->engine, &s->feed);
    close(s->fd);
    decoder_free(s->decoder);
    buf_done(&s->tail);
    mem_free(s->peer);
    mem_free(s);
}

/* A shared descriptor may be a blocking one at any time, so it is looked at first. Of a socket
 * that is one step: another reader may be faster. */
static ssize_t read_now(const struct source *s, char *to, size_t max)
{
    if (s->kind == SOURCE_SOCKET)
        return recv(s->fd, to, max, MSG_DONTWAIT);
    if (s->shared && !source_has_input(s)) {
        errno = EAGAIN;
        return -1;
    }
    return read(s->fd, to, max);
}

size_t source_read(struct source *s, char *to, size_t max)
{
    ssize_t n;

    if (s->end != INPUT_GOES_ON)
        return 0;
    n = read_now(s, to, max);
    if (n > 0) {
        s->input->bytes += (uint64_t)n;
        return (size_t)n;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && s->kind != SOURCE_SOCKET) {
        log_error("%s: cannot read %s: %s", side_word(s->input->side), s->peer, strerror(errno));
        s->input->fault = true;
    }
    s->end = n == 0 ? INPUT_ENDED : INPUT_BROKEN;
    source_unwatch(s);
    return 0;
}

size_t source_read_on(struct source *s, size_t max)
{
    size_t got;

    pump_give_rows_back(s->input->pump, s);
    got = source_read(s, buf_reserve(&s->tail, max), max);
    buf_advance(&s->tail, got);
    return got;
}

bool source_has_input(const struct source *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};

    return s->end == INPUT_GOES_ON && poll(&p, 1, 0) > 0;
}

void source_watch(struct source *s)
{
    if (s->watching || s->end != INPUT_GOES_ON)
        return;
    s->watching = true;
    if (s->kind == SOURCE_REGULAR)
        pump_ready(s->input->pump, s);
    else
        event_add(&s->readable, NULL);
}

void source_unwatch(struct source *s)
{
    if (!s->watching)
        return;
    s->watching = false;
    if (s->kind != SOURCE_REGULAR)
        event_del(&s->readable);
}

/* A FIFO that no writer has opened yet would never say that it has none: only reading does. */
static void look_for_writers(struct source *s)
{
    if (source_read_on(s, 1) == 0 && s->end == INPUT_GOES_ON)
        return;
    s->backlog = true; /* that byte may end a row, with none to follow */
    pump_ready(s->input->pump, s);
}

void source_ask_to_end(struct source *s)
{
    if (s->kind == SOURCE_SOCKET && !s->shared)
        shutdown(s->fd, SHUT_WR);
    else if (s->kind == SOURCE_REGULAR || isatty(s->fd))
        source_cut(s);
    else
        look_for_writers(s);
}

/* Takes what has arrived already, and no more: a sender may go on for ever. */
static void read_what_came(struct source *s)
{
    int waiting = 0;

    if (ioctl(s->fd, FIONREAD, &waiting) != 0)
        return;
    while (waiting > 0 && s->end == INPUT_GOES_ON) {
        size_t got = source_read_on(s, (size_t)waiting);
        if (got == 0)
            return;
        waiting -= (int)got;
    }
}

/* Has its sender ended, with nothing left to read? Then its last line is a line. */
static void look_for_end(struct source *s)
{
    char byte;

    if (s->end == INPUT_GOES_ON && s->kind == SOURCE_SOCKET &&
        recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        s->end = INPUT_ENDED;
}

void source_cut(struct source *s)
{
    if (s->end == INPUT_GOES_ON && s->kind == SOURCE_REGULAR) {
        s->end = INPUT_LEFT; /* the rest of a file is not lost, it is not read */
    } else if (s->end == INPUT_GOES_ON) {
        read_what_came(s);
        look_for_end(s);
    }
    if (s->end == INPUT_GOES_ON)
        s->end = INPUT_BROKEN;
    source_unwatch(s);
    pump_ready(s->input->pump, s);
}
