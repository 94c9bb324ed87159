#include "io/source.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/input.h"
#include "io/log.h"
#include "io/pump.h"

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

    if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode))
        return SOURCE_REGULAR;
    return S_ISSOCK(st.st_mode) ? SOURCE_SOCKET : SOURCE_STREAM;
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
    close(s->fd);
    decoder_free(s->decoder);
    buf_done(&s->tail);
    mem_free(s->peer);
    mem_free(s);
}

size_t source_read(struct source *s, char *to, size_t max)
{
    ssize_t n;

    if (s->end != INPUT_GOES_ON)
        return 0;
    n = read(s->fd, to, max);
    if (n > 0)
        return (size_t)n;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0 && s->kind != SOURCE_SOCKET)
        log_error("%s: cannot read %s: %s", side_word(s->input->side), s->peer, strerror(errno));
    s->end = n == 0 ? INPUT_ENDED : INPUT_BROKEN;
    source_unwatch(s);
    return 0;
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

void source_ask_to_end(struct source *s)
{
    if (s->kind == SOURCE_SOCKET)
        shutdown(s->fd, SHUT_WR);
    else if (s->kind == SOURCE_REGULAR || isatty(s->fd))
        source_cut(s);
}

void source_cut(struct source *s)
{
    if (s->end == INPUT_GOES_ON)
        s->end = INPUT_BROKEN;
    source_unwatch(s);
    pump_ready(s->input->pump, s);
}
