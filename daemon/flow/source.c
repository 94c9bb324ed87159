#include "flow/source.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static void tell_ready(struct source *s)
{
    s->group->ready(s->group->mover, s);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    tell_ready(arg);
}

void source_group_init(struct source_group *g, struct event_base *base,
                       const struct input_config *c, enum side side, source_ready *ready,
                       void *mover)
{
    *g = (struct source_group){
        .side = side, .config = c, .base = base, .ready = ready, .mover = mover};
    list_init(&g->sources);
}

enum source_kind source_kind_of(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
        return SOURCE_SOCKET;
    /* Files, and devices such as /dev/null, cannot be waited for. */
    return S_ISFIFO(st.st_mode) || isatty(fd) ? SOURCE_STREAM : SOURCE_REGULAR;
}

struct source *source_new(struct source_group *g, int fd, enum source_kind kind, const char *peer)
{
    struct source *s = mem_alloc_zeroed(1, sizeof(*s));

    list_append(&g->sources, &s->link);
    list_link_init(&s->ready_link);
    g->count++;
    s->group = g;
    s->kind = kind;
    s->fd = fd;
    s->peer = mem_strdup(peer);
    s->decoder = decoder_new(&g->config->format);
    s->end = INPUT_GOES_ON;
    buf_init(&s->tail);
    event_assign(&s->readable, g->base, fd, EV_READ | EV_PERSIST, on_readable, s);
    return s;
}

void source_free(struct source *s)
{
    if (s == NULL)
        return;
    source_unwatch(s);
    list_remove(&s->link);
    list_remove(&s->ready_link);
    s->group->count--;
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
        s->group->bytes += (uint64_t)n;
        return (size_t)n;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && s->kind != SOURCE_SOCKET) {
        log_error("%s: cannot read %s: %s", side_word(s->group->side), s->peer, strerror(errno));
        s->group->fault = true;
    }
    s->end = n == 0 ? INPUT_ENDED : INPUT_BROKEN;
    source_unwatch(s);
    return 0;
}

/* Rows at hand that are not given yet are cut anew from the tail later. */
static void give_rows_back(struct source *s)
{
    if (s->rows == NULL || (s->used == 0 && s->rows->count == 0))
        return;
    buf_eat(&s->tail, decoder_rewind(s->decoder, s->rows, s->from));
    batch_clear(s->rows);
    s->from = s->used = 0;
}

bool source_cut_rows(struct source *s, struct batch *b)
{
    static const char nothing[1];
    size_t length;

    buf_eat(&s->tail, s->used);
    length = buf_length(&s->tail);
    s->rows = b;
    s->from = 0;
    s->used =
        decoder_read(s->decoder, length == 0 ? nothing : buf_data(&s->tail), length, s->end, b);
    return s->used > 0 || b->count > 0;
}

size_t source_read_on(struct source *s, size_t max)
{
    size_t got;

    give_rows_back(s);
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
        tell_ready(s);
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
    tell_ready(s);
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
    tell_ready(s);
}
