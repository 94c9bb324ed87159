#include "io/listener.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/address.h"

#define ACCEPTS_PER_TURN 32
#define BACKLOG          511

static const struct timeval rest_time = {.tv_usec = 250000};

static void set_keepalive(const struct listener *l, int fd)
{
    int on = 1, idle = (int)(l->endpoint->keepalive_ms / 1000), probes = 4;
    int interval;

    if (idle < 1)
        idle = 1;
    interval = idle / probes > 0 ? idle / probes : 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static void welcome(struct listener *l, int fd, const struct sockaddr_storage *a)
{
    const struct endpoint *e = l->endpoint;
    struct buf peer = BUF_EMPTY;

    address_write(a, &peer);
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
        set_keepalive(l, fd);
        l->accept(l->owner, fd, buf_text(&peer));
    }
    buf_done(&peer);
}

/* No descriptor is left. The spare one serves to take the peer and close it, so
 * that it does not wait for ever; then the listener rests. */
static void rest(struct listener *l)
{
    int error = errno;

    if (!l->exhausted)
        log_error("%s: cannot accept connections: %s; trying again every 250 ms", l->section,
                  strerror(error));
    l->exhausted = true;
    if (l->spare_fd >= 0) {
        int fd;
        close(l->spare_fd);
        fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            close(fd);
    }
    l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    event_del(&l->readable);
    event_add(&l->rest_over, &rest_time);
}

static void on_rest_over(evutil_socket_t fd, short what, void *arg)
{
    struct listener *l = arg;

    (void)fd;
    (void)what;
    event_add(&l->readable, NULL);
}

/* False: nobody waits any more, or no descriptor is left. */
static bool take_one(struct listener *l)
{
    struct sockaddr_storage a = {0};
    socklen_t length = sizeof(a);
    int peer = accept4(l->fd, (struct sockaddr *)&a, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (peer >= 0) {
        l->exhausted = false;
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
    struct listener *l = arg;

    (void)fd;
    (void)what;
    for (int i = 0; i < ACCEPTS_PER_TURN && l->fd >= 0 && take_one(l); i++)
        ;
}

void listener_take_all(struct listener *l)
{
    /* No longer than the queue: others may go on coming. */
    for (int i = 0; i < BACKLOG && take_one(l); i++)
        ;
}

static int bind_one(const struct addrinfo *a)
{
    int on = 1, error;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void tell_failure(const struct listener *l, int error)
{
    const char *way_out = "";

    if (error == EADDRINUSE)
        way_out = "; another program has this port: stop it, or choose another port";
    else if (error == EACCES)
        way_out =
            "; ports below 1024 need a right that this user does not have: choose a higher one";
    else if (error == EADDRNOTAVAIL)
        way_out = "; no interface of this machine has this address";
    log_error("%s: cannot listen on %s: %s%s (--set %s.listen=HOST:PORT overrides the file)",
              l->section, l->endpoint->text, strerror(error), way_out, l->section);
}

static bool bind_to(struct listener *l)
{
    struct addrinfo hints = {
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *found = NULL;
    const struct endpoint *e = l->endpoint;
    int error = getaddrinfo(e->host, e->port, &hints, &found);

    if (error != 0) {
        log_error("%s: cannot listen on %s: %s", l->section, e->text, gai_strerror(error));
        return false;
    }
    l->fd = bind_one(found);
    error = errno;
    freeaddrinfo(found);
    if (l->fd < 0)
        tell_failure(l, error);
    return l->fd >= 0;
}

static void note_bound(struct listener *l)
{
    struct sockaddr_storage a = {0};
    socklen_t length = sizeof(a);
    struct buf text = BUF_EMPTY;

    getsockname(l->fd, (struct sockaddr *)&a, &length);
    address_write(&a, &text);
    snprintf(l->bound, sizeof(l->bound), "%s", buf_text(&text));
    buf_done(&text);
}

bool listener_open(struct listener *l, struct event_base *base, const struct endpoint *e,
                   const char *section, listener_accept *accept, void *owner)
{
    *l = (struct listener){
        .endpoint = e,
        .section = section,
        .fd = -1,
        .spare_fd = -1,
        .accept = accept,
        .owner = owner,
    };
    if (!bind_to(l))
        return false;
    note_bound(l);
    l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    event_assign(&l->readable, base, l->fd, EV_READ | EV_PERSIST, on_readable, l);
    event_assign(&l->rest_over, base, -1, 0, on_rest_over, l);
    event_add(&l->readable, NULL);
    return true;
}

void listener_close(struct listener *l)
{
    if (l->fd < 0)
        return;
    event_del(&l->readable);
    event_del(&l->rest_over);
    close(l->fd);
    close(l->spare_fd);
    l->fd = l->spare_fd = -1;
}

void listener_gone(struct listener *l)
{
    assert(l->connections > 0);
    l->connections--;
}
