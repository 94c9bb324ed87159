#include "io/sink.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/text.h"
#include "io/clock.h"
#include "io/socket.h"

/* What stays allocated of a buffer that is empty. */
#define KEEP_BYTES (256 << 10)

static const struct timeval retry_after = {.tv_sec = 1};
static const struct timeval acknowledged_soon = {.tv_usec = 20000};

static void flush(struct sink *s);

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct sink *s = arg;

    (void)fd;
    (void)what;
    s->waiting = false;
    flush(s);
    if (s->dead != NULL)
        s->gone(s->owner, s);
}

/* Nothing can be written to it any more: both ways are closed, or it was reset. */
static void look_for_gone(struct sink *s)
{
    struct pollfd p = {.fd = s->fd};

    if (s->dead == NULL && poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0)
        s->dead = "it closed its connection";
}

static void take_fin(struct sink *s)
{
    s->fin_seen = true;
    look_for_gone(s);
    if (!s->fin_ends)
        return;
    s->ending = true;
    s->last = s->sent > 0 ? text_first_row_end(buf_bytes(&s->pending), s->quoted) : 0;
    flush(s);
}

/* What a reader says is thrown away; that it says no more (FIN) mostly means nothing; but
 * only by reading is it found out that it is gone. */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct sink *s = arg;
    char nothing[4096];
    ssize_t n = read(fd, nothing, sizeof(nothing));

    (void)what;
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    event_del(&s->readable);
    if (n == 0)
        take_fin(s);
    else
        s->dead = strerror(errno);
    if (s->dead != NULL)
        s->gone(s->owner, s);
}

static bool is_regular(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_socket(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

struct sink *sink_new(struct event_base *base, int fd, const char *name, uint64_t *bytes_written,
                      sink_gone *gone, void *owner)
{
    struct sink *s = mem_alloc_zeroed(1, sizeof(*s));

    list_link_init(&s->link);
    s->fd = fd;
    s->regular = is_regular(fd);
    s->tcp = socket_is_tcp(fd);
    s->name = mem_strdup(name);
    buf_init(&s->pending);
    s->bytes_written = bytes_written;
    s->taken_ms = clock_mono().ms;
    s->gone = gone;
    s->owner = owner;
    event_assign(&s->retry, base, -1, 0, on_writable, s);
    if (s->regular)
        return s;
    event_assign(&s->writable, base, fd, EV_WRITE, on_writable, s);
    event_assign(&s->readable, base, fd, EV_READ | EV_PERSIST, on_readable, s);
    if (is_socket(fd))
        event_add(&s->readable, NULL);
    return s;
}

void sink_free(struct sink *s)
{
    if (s == NULL)
        return;
    event_del(&s->retry);
    if (!s->regular) {
        event_del(&s->writable);
        event_del(&s->readable);
    }
    list_remove(&s->link);
    close(s->fd);
    buf_done(&s->pending);
    mem_free(s->name);
    mem_free(s);
}

static void wait_for_room(struct sink *s)
{
    if (s->waiting)
        return;
    s->waiting = true;
    s->stalled_since_ms = clock_mono().ms;
    if (s->regular)
        event_add(&s->retry, &retry_after);
    else
        event_add(&s->writable, NULL);
}

/* Returns how many bytes were taken. */
static size_t try_write(struct sink *s, const char *p, size_t n)
{
    ssize_t written = write(s->fd, p, n);

    if (written >= 0) {
        s->trouble = NULL;
        s->discarding = false;
        s->stalled_since_ms = clock_mono().ms;
        s->written += (uint64_t)written;
        *s->bytes_written += (uint64_t)written;
        return (size_t)written;
    }
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    if (s->regular)
        s->trouble = strerror(errno); /* full disk, quota, I/O: it may pass */
    else
        s->dead = strerror(errno);
    return 0;
}

/* In the socket, and not acknowledged (TCP) or read (unix) yet. */
static int queued(const struct sink *s)
{
    int n = 0;

    return ioctl(s->fd, SIOCOUTQ, &n) == 0 ? n : 0;
}

/* How much of what is written need not be kept: what is written to a unix socket has arrived. */
static size_t arrived(const struct sink *s)
{
    size_t waits = s->fin_seen && s->tcp ? (size_t)queued(s) : 0;

    return s->sent > waits ? s->sent - waits : 0;
}

static void forget_whole_rows(struct sink *s)
{
    size_t whole = text_rows_end((struct bytes){buf_data(&s->pending), arrived(s)}, s->quoted);

    buf_eat(&s->pending, whole);
    s->sent -= whole;
    s->last = s->last > whole ? s->last - whole : 0;
    s->header_left = s->header_left > whole ? s->header_left - whole : 0;
    buf_trim(&s->pending, KEEP_BYTES);
}

/* The line under way is finished first, and then held until it has arrived. */
static void go_on_ending(struct sink *s)
{
    if (s->sent < s->last)
        wait_for_room(s);
    else if (s->sent > 0)
        event_add(&s->retry, &acknowledged_soon);
    else
        s->dead = "it asked us to end";
}

static void flush(struct sink *s)
{
    size_t to = s->ending ? s->last : buf_length(&s->pending);

    if (s->dead != NULL)
        return;
    if (s->sent < to)
        s->sent += try_write(s, buf_data(&s->pending) + s->sent, to - s->sent);
    forget_whole_rows(s);
    if (s->fin_seen)
        look_for_gone(s);
    if (s->dead != NULL)
        return;
    if (s->ending)
        go_on_ending(s);
    else if (sink_unwritten(s) > 0)
        wait_for_room(s);
}

/* Nothing waits: what is written at once needs no copy. */
static void put_first(struct sink *s, struct bytes lines, size_t header_bytes)
{
    size_t sent = try_write(s, lines.p, lines.n), start;

    if (sent == lines.n)
        return;
    start = text_rows_end((struct bytes){lines.p, sent}, s->quoted);
    s->sent = sent - start;
    s->header_left = header_bytes > start ? header_bytes - start : 0;
    buf_append(&s->pending, lines.p + start, lines.n - start);
    if (s->dead == NULL)
        wait_for_room(s);
}

void sink_put(struct sink *s, struct bytes lines, size_t header_bytes)
{
    bool waits = sink_unwritten(s) > 0 || s->dead != NULL || s->ending;

    if (lines.n == 0)
        return;
    if (!waits && !s->fin_seen) {
        put_first(s, lines, header_bytes);
        return;
    }
    buf_append_bytes(&s->pending, lines);
    if (!waits)
        flush(s);
}

void sink_keep(const struct sink *s, struct buf *to)
{
    size_t from = s->header_left;

    buf_append(to, buf_data(&s->pending) + from, buf_length(&s->pending) - from);
}

void sink_restart(struct sink *s, int fd, struct bytes first, size_t header_bytes)
{
    struct buf rows = BUF_EMPTY;

    assert(s->regular);
    close(s->fd);
    s->fd = fd;
    buf_append_bytes(&rows, first);
    sink_keep(s, &rows); /* the row that was torn is written whole in the new file */
    buf_done(&s->pending);
    s->pending = rows;
    s->sent = 0;
    s->header_left = header_bytes;
    flush(s);
}

/* Bytes are taken when they are acknowledged. Of a unix socket only the memory of what waits
 * in it is known: it shrinks as the peer reads, and then there is room for more. */
static void look_for_progress(struct sink *s, int64_t now_ms)
{
    int waits = queued(s);
    uint64_t taken = s->tcp ? s->written - (uint64_t)waits : s->written;
    bool took = taken > s->taken || (!s->tcp && waits < s->queued);
    bool nothing_waits = waits == 0 && sink_unwritten(s) == 0;

    if (took)
        s->stalled_since_ms = now_ms;
    if (took || nothing_waits)
        s->taken_ms = now_ms;
    s->taken = taken;
    s->queued = waits;
}

void sink_tick(struct sink *s, int64_t now_ms, int64_t dead_after_ms)
{
    if (s->regular || s->dead != NULL)
        return;
    look_for_progress(s, now_ms);
    if (s->fin_seen) {
        forget_whole_rows(s);
        look_for_gone(s);
    }
    if (s->dead == NULL && dead_after_ms > 0 && now_ms - s->taken_ms >= dead_after_ms)
        s->dead = "it took nothing for as long as dead_after says";
}
