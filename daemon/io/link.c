#include "io/link.h"

#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/object.h"
#include "io/socket.h"

static bool link_ok(const struct link *l)
{
    return l->fd >= 0 && l->owner != NULL && l->kind <= LINK_DEVICE &&
           (l->kind != LINK_FILE || l->writing == NULL) && (!l->is_reset || l->kind == LINK_TCP);
}

static struct link *link_of(void *arg, evutil_socket_t fd)
{
    struct link *l = object_of(arg, LINK_MAGIC);

    assert(link_ok(l) && l->fd == fd);
    return l;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = link_of(arg, fd);

    (void)what;
    l->owner->readable(l);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = link_of(arg, fd);

    (void)what;
    l->owner->writable(l);
}

static enum link_kind kind_of(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return LINK_DEVICE;
    if (S_ISSOCK(st.st_mode))
        return socket_is_tcp(fd) ? LINK_TCP : LINK_LOCAL;
    if (S_ISFIFO(st.st_mode))
        return LINK_PIPE;
    if (S_ISREG(st.st_mode))
        return LINK_FILE;
    return isatty(fd) ? LINK_TERMINAL : LINK_DEVICE;
}

void link_init(struct link *l, struct event_base *base, int fd, const struct link_owner *owner)
{
    *l = (struct link){.magic = LINK_MAGIC, .fd = fd, .kind = kind_of(fd), .owner = owner};
    event_assign(&l->reading, base, fd, EV_READ | EV_PERSIST, on_readable, l);
    assert(link_ok(l));
}

void link_done(struct link *l)
{
    assert(link_ok(l));
    link_unwatch(l);
    if (l->writing != NULL)
        event_del(l->writing);
    mem_free(l->writing);
    close(l->fd);
    l->fd = -1;
}

/* --- bytes --- */

static ssize_t failed(struct link *l)
{
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    l->error = errno;
    return LINK_BROKEN;
}

/* What is shared may be a blocking one at any time, so it is looked at first. Of a socket that is
 * one step: another reader may be faster. */
ssize_t link_read(struct link *l, char *to, size_t max)
{
    ssize_t n;

    assert(link_ok(l) && max > 0);
    if (link_is_socket(l))
        n = recv(l->fd, to, max, MSG_DONTWAIT);
    else if (l->shared && !link_has_input(l))
        return 0;
    else
        n = read(l->fd, to, max);
    if (n < 0)
        return failed(l);
    return n > 0 ? n : LINK_ENDED;
}

ssize_t link_write(struct link *l, const char *p, size_t n)
{
    ssize_t written;

    assert(link_ok(l) && n > 0);
    written = write(l->fd, p, n);
    return written < 0 ? failed(l) : written;
}

const char *link_why(const struct link *l)
{
    return strerror(l->error);
}

/* --- readiness --- */

void link_watch(struct link *l)
{
    assert(link_ok(l));
    if (l->watched)
        return;
    l->watched = true;
    if (link_is_always_ready(l))
        l->owner->readable(l);
    else
        event_add(&l->reading, NULL);
}

void link_unwatch(struct link *l)
{
    if (l->watched && !link_is_always_ready(l))
        event_del(&l->reading);
    l->watched = false;
}

void link_await_room(struct link *l)
{
    assert(link_ok(l) && l->kind != LINK_FILE);
    if (l->writing == NULL) {
        l->writing = mem_alloc_zeroed(1, sizeof(*l->writing));
        event_assign(l->writing, event_get_base(&l->reading), l->fd, EV_WRITE, on_writable, l);
    }
    event_add(l->writing, NULL);
}

static short poll_now(const struct link *l, short what)
{
    struct pollfd p = {.fd = l->fd, .events = what};

    return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

bool link_has_input(const struct link *l)
{
    return poll_now(l, POLLIN) != 0;
}

bool link_is_gone(const struct link *l)
{
    return (poll_now(l, 0) & (POLLHUP | POLLERR)) != 0;
}

static size_t ask(const struct link *l, unsigned long what)
{
    int n = 0;

    return ioctl(l->fd, what, &n) == 0 && n > 0 ? (size_t)n : 0;
}

size_t link_unread(const struct link *l)
{
    return ask(l, FIONREAD);
}

size_t link_unacknowledged(const struct link *l)
{
    return l->is_reset ? 0 : ask(l, SIOCOUTQ);
}

/* --- ends --- */

void link_half_close(struct link *l)
{
    assert(link_is_socket(l));
    shutdown(l->fd, SHUT_WR);
}

void link_reset(struct link *l)
{
    assert(link_ok(l));
    if (l->kind != LINK_TCP)
        return;
    socket_reset(l->fd);
    l->is_reset = true;
}
