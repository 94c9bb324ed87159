#include "io/listener.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"
#include "io/address.h"
#include "io/clock.h"
#include "io/socket.h"

#define ACCEPTS_PER_TURN 32
#define BACKLOG          511
#define TOLD_AGAIN_MS    60000

static const struct timeval rest_time = {.tv_usec = 250000};

static bool listener_ok(const struct listener *l)
{
    return l->accept != NULL && (l->binding.fd >= 0 || l->spare_fd < 0) &&
           l->connections <= (size_t)l->endpoint->max_connections;
}

static void welcome(struct listener *l, int fd, const struct sockaddr_storage *a)
{
    const struct endpoint *e = l->endpoint;
    struct buf peer = BUF_EMPTY;

    assert(listener_ok(l));
    address_write_peer(fd, a, &peer);
    if (!address_allowed(a, e->allow, e->allow_count)) {
        log_limited(&l->limit, LOG_LEVEL_WARNING,
                    "%s: %s may not connect: [%s] allow does not have it", l->section,
                    buf_text(&peer), l->section);
        close(fd);
    } else if (l->connections >= (size_t)e->max_connections) {
        log_limited(&l->limit, LOG_LEVEL_WARNING,
                    "%s: %s is turned away: %zu connections are open, [%s] max_connections",
                    l->section, buf_text(&peer), l->connections, l->section);
        close(fd);
    } else {
        l->connections++;
        socket_keepalive(fd, e->keepalive_ms);
        l->accept(l->owner, fd, buf_text(&peer));
    }
    buf_done(&peer);
}

static void tell_exhausted(struct listener *l, int error)
{
    int64_t now_ms = clock_mono().ms;

    if (l->exhausted_told_ms != 0 && now_ms - l->exhausted_told_ms < TOLD_AGAIN_MS)
        return;
    l->exhausted_told_ms = now_ms;
    log_error("%s: cannot accept connections: %s; those that are open go on; trying again every "
              "250 ms",
              l->section, strerror(error));
}

/* No descriptor is left. The spare one serves to take the peer and close it, so
 * that it does not wait for ever; then the listener rests. */
static void rest(struct listener *l)
{
    tell_exhausted(l, errno);
    if (l->spare_fd >= 0) {
        int fd;
        close(l->spare_fd);
        fd = accept4(l->binding.fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            close(fd);
    }
    l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    event_del(&l->readable);
    event_add(&l->rest_over, &rest_time);
}

static void on_rest_over(evutil_socket_t fd, short what, void *arg)
{
    struct listener *l = object_of(arg, LISTENER_MAGIC);

    (void)fd;
    (void)what;
    event_add(&l->readable, NULL);
}

/* False: nobody waits any more, or no descriptor is left. */
static bool take_one(struct listener *l)
{
    struct sockaddr_storage a = {0};
    socklen_t length = sizeof(a);
    int peer = accept4(l->binding.fd, (struct sockaddr *)&a, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (peer >= 0) {
        welcome(l, peer, &a);
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        rest(l);
        return false;
    }
    /* Else that peer is gone again: the next one. */
    return errno != EAGAIN && errno != EWOULDBLOCK;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct listener *l = object_of(arg, LISTENER_MAGIC);

    (void)fd;
    (void)what;
    for (int i = 0; i < ACCEPTS_PER_TURN && l->binding.fd >= 0 && take_one(l); i++)
        ;
}

void listener_take_last(struct listener *l)
{
    assert(listener_ok(l));
    if (l->binding.fd < 0)
        return;
    if (l->endpoint->family != FAMILY_SYSTEMD)
        binding_refuse(&l->binding);
    /* No longer than the queue: to a passed socket others may go on coming. */
    for (int i = 0; i < BACKLOG && take_one(l); i++)
        ;
}

/* The port that the kernel chose, where port 0 was asked for. */
static void note_bound(struct listener *l)
{
    struct sockaddr_storage a = {0};
    socklen_t length = sizeof(a);
    struct buf text = BUF_EMPTY;

    getsockname(l->binding.fd, (struct sockaddr *)&a, &length);
    address_write(&a, &text);
    snprintf(l->bound, sizeof(l->bound), "%s", buf_text(&text));
    buf_done(&text);
}

bool listener_open(struct listener *l, struct event_base *base, const struct endpoint *e,
                   const char *section, listener_accept *accept, void *owner)
{
    *l = (struct listener){
        .magic = LISTENER_MAGIC,
        .endpoint = e,
        .section = section,
        .spare_fd = -1,
        .accept = accept,
        .owner = owner,
    };
    if (!binding_open(&l->binding, e, section, BACKLOG))
        return false;
    if (e->family == FAMILY_TCP)
        note_bound(l);
    l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    event_assign(&l->readable, base, l->binding.fd, EV_READ | EV_PERSIST, on_readable, l);
    event_assign(&l->rest_over, base, -1, 0, on_rest_over, l);
    event_add(&l->readable, NULL);
    return true;
}

void listener_close(struct listener *l)
{
    if (l->binding.fd < 0)
        return;
    event_del(&l->readable);
    event_del(&l->rest_over);
    binding_close(&l->binding);
    close(l->spare_fd);
    l->spare_fd = -1;
    assert(listener_ok(l));
}

const char *listener_place(const struct listener *l)
{
    return l->endpoint->family == FAMILY_TCP ? l->bound : l->endpoint->text;
}

void listener_gone(struct listener *l)
{
    assert(listener_ok(l) && l->connections > 0);
    l->connections--;
}
