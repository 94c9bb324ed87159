#include "io/connector.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/object.h"
#include "io/address.h"
#include "io/clock.h"
#include "io/log.h"
#include "io/socket.h"

static void begin(struct connector *c);
static void try_addresses(struct connector *c, int error);

/* It holds between any two calls from outside. */
static bool connector_ok(const struct connector *c)
{
    bool rests = c->rest_ms >= CONNECTOR_REST_MIN_MS && c->rest_ms <= CONNECTOR_REST_MAX_MS;

    return (c->resolver != NULL) == (c->step == CONNECTOR_RESOLVING) &&
           (c->step == CONNECTOR_CONNECTING || (c->found == NULL && c->at == NULL)) &&
           (c->step == CONNECTOR_STOPPED ||
            (rests && (c->fd >= 0) == (c->step == CONNECTOR_CONNECTING)));
}

/* Whom the loop, or the resolver, calls. */
static struct connector *connector_of(void *arg)
{
    struct connector *c = object_of(arg, CONNECTOR_MAGIC);

    assert(connector_ok(c));
    return c;
}

/* --- rests --- */

static void set_timer(struct connector *c, int64_t ms)
{
    const struct timeval when = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    event_add(&c->timer, &when);
}

/* At least half of it. */
static int64_t shortened_by_chance(int64_t ms)
{
    uint32_t chance = 0;
    ssize_t got = getrandom(&chance, sizeof(chance), GRND_NONBLOCK);

    (void)got; /* else it is the whole rest */
    return ms - chance % (ms / 2 + 1);
}

static void rest(struct connector *c)
{
    c->step = CONNECTOR_RESTING;
    set_timer(c, shortened_by_chance(c->rest_ms));
    c->rest_ms = 2 * c->rest_ms < CONNECTOR_REST_MAX_MS ? 2 * c->rest_ms : CONNECTOR_REST_MAX_MS;
}

static void forget_addresses(struct connector *c)
{
    if (c->found != NULL)
        freeaddrinfo(c->found);
    c->found = c->at = NULL;
}

/* One line for the first failure and for each that is another one than before. */
static void tell(struct connector *c, const char *reason)
{
    if (strcmp(c->trouble, reason) == 0)
        return;
    snprintf(c->trouble, sizeof(c->trouble), "%s", reason);
    log_warning("%s: cannot connect to %s: %s; trying on", c->section, c->endpoint->text,
                c->trouble);
}

static void fail(struct connector *c, const char *reason)
{
    tell(c, reason);
    forget_addresses(c);
    rest(c);
}

/* --- one address --- */

/* A port of ours that nobody listens on, chosen by chance as our own end's, connects to
 * itself. */
static bool is_connected_to_itself(int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t here_size = sizeof(here), there_size = sizeof(there);

    return getsockname(fd, (struct sockaddr *)&here, &here_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&there, &there_size) == 0 &&
           here.ss_family != AF_UNIX && here_size == there_size &&
           memcmp(&here, &there, here_size) == 0;
}

/* Reset: a connection to itself that ended in order would keep the port from who is to
 * listen there. */
static void reset(int fd)
{
    socket_reset(fd);
    close(fd);
}

static void write_peer(const struct connector *c, int fd, struct buf *to)
{
    struct sockaddr_storage a = {0};
    socklen_t size = sizeof(a);
    struct buf address = BUF_EMPTY;

    buf_append_text(to, c->endpoint->text);
    if (c->endpoint->family == FAMILY_TCP && getpeername(fd, (struct sockaddr *)&a, &size) == 0) {
        address_write(&a, &address);
        if (strcmp(buf_text(&address), c->endpoint->text) != 0)
            buf_printf(to, " (%s)", buf_text(&address));
    }
    buf_done(&address);
}

static void believe(struct connector *c, const char *peer)
{
    log_info("%s: connected to %s", c->section, peer);
    c->flaps = false;
    c->trouble[0] = '\0';
}

static void succeed(struct connector *c, int fd)
{
    struct buf peer = BUF_EMPTY;

    event_del(&c->timer);
    if (c->endpoint->family == FAMILY_TCP)
        socket_keepalive(fd, c->endpoint->keepalive_ms);
    write_peer(c, fd, &peer);
    forget_addresses(c);
    c->fd = -1;
    c->step = CONNECTOR_CONNECTED;
    c->connected_ms = clock_mono().ms;
    if (c->flaps)
        set_timer(c, CONNECTOR_PROOF_MS);
    else
        believe(c, buf_text(&peer));
    c->connected(c->owner, fd, buf_text(&peer));
    buf_done(&peer);
}

/* Returns 0 when it is connected, or why not; then it is closed. */
static int judge(int fd)
{
    int error = 0;
    socklen_t size = sizeof(error);

    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 && is_connected_to_itself(fd)) {
        reset(fd);
        return ECONNREFUSED;
    }
    if (error != 0)
        close(fd);
    return error;
}

/* This attempt is over, well or badly. */
static void end_try(struct connector *c, int error)
{
    int fd = c->fd;

    event_del(&c->connecting);
    event_del(&c->timer);
    c->fd = -1;
    if (error == 0)
        error = judge(fd);
    else
        close(fd);
    if (error == 0)
        succeed(c, fd);
    else
        try_addresses(c, error);
}

static void on_connecting(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_try(connector_of(arg), 0);
}

/* Begins to connect. Returns 0 when that may go well, or why not. */
static int try_one(struct connector *c, const struct sockaddr *a, socklen_t size)
{
    int error;

    c->fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return errno;
    if (connect(c->fd, a, size) == 0 || errno == EINPROGRESS || errno == EINTR) {
        c->step = CONNECTOR_CONNECTING;
        event_assign(&c->connecting, c->base, c->fd, EV_WRITE, on_connecting, c);
        event_add(&c->connecting, NULL);
        set_timer(c, CONNECTOR_TRY_MS);
        return 0;
    }
    error = errno;
    close(c->fd);
    c->fd = -1;
    return error;
}

/* From `at` on; `error` is what the one before came to. */
static void try_addresses(struct connector *c, int error)
{
    while (c->at != NULL) {
        const struct addrinfo *a = c->at;
        c->at = a->ai_next;
        error = try_one(c, a->ai_addr, a->ai_addrlen);
        if (error == 0)
            return;
    }
    /* Of a unix socket: its queue is full. */
    fail(c, error == EAGAIN ? "it takes no connections" : strerror(error));
}

static void try_unix(struct connector *c)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int error;

    assert(strlen(c->endpoint->path) < sizeof(a.sun_path));
    strcpy(a.sun_path, c->endpoint->path);
    error = try_one(c, (struct sockaddr *)&a, sizeof(a));
    if (error != 0)
        try_addresses(c, error);
}

/* --- all of it --- */

static void on_resolved(void *owner, struct addrinfo *found, const char *error)
{
    struct connector *c = connector_of(owner);

    c->resolver = NULL;
    event_del(&c->timer);
    if (found == NULL) {
        fail(c, error);
        return;
    }
    c->found = c->at = found;
    try_addresses(c, 0);
}

static void begin(struct connector *c)
{
    if (c->endpoint->family == FAMILY_UNIX) {
        try_unix(c);
        return;
    }
    c->step = CONNECTOR_RESOLVING;
    c->resolver = resolver_ask(c->base, c->endpoint->host, c->endpoint->port, on_resolved, c);
    set_timer(c, CONNECTOR_TRY_MS);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct connector *c = connector_of(arg);

    (void)fd;
    (void)what;
    if (c->step == CONNECTOR_RESTING)
        begin(c);
    else if (c->step == CONNECTOR_CONNECTING)
        end_try(c, ETIMEDOUT);
    else if (c->step == CONNECTOR_CONNECTED)
        believe(c, c->endpoint->text);
    else
        tell(c, "no answer yet to the question for its address"); /* the thread asks on */
}

void connector_start(struct connector *c, struct event_base *base, const struct endpoint *e,
                     const char *section, connector_connected *connected, void *owner)
{
    *c = (struct connector){
        .magic = CONNECTOR_MAGIC,
        .endpoint = e,
        .section = section,
        .base = base,
        .step = CONNECTOR_RESTING,
        .fd = -1,
        .rest_ms = CONNECTOR_REST_MIN_MS,
        .down_ms = clock_mono().ms,
        .connected = connected,
        .owner = owner,
    };
    event_assign(&c->connecting, base, -1, 0, on_connecting, c);
    event_assign(&c->timer, base, -1, 0, on_timer, c);
    set_timer(c, 0);
    assert(connector_ok(c));
}

void connector_again(struct connector *c)
{
    int64_t now_ms = clock_mono().ms, lasted_ms = now_ms - c->connected_ms;

    assert(connector_ok(c) && c->step == CONNECTOR_CONNECTED);
    event_del(&c->timer);
    if (lasted_ms >= c->rest_ms / 2) /* the one before was half of the next one */
        c->rest_ms = CONNECTOR_REST_MIN_MS;
    c->flaps = lasted_ms < CONNECTOR_PROOF_MS;
    if (c->flaps)
        tell(c, "it closes the connection at once");
    else
        c->down_ms = now_ms;
    rest(c);
    assert(connector_ok(c));
}

void connector_hurry(struct connector *c)
{
    assert(connector_ok(c));
    c->rest_ms = CONNECTOR_REST_MIN_MS;
    if (c->step == CONNECTOR_RESTING)
        set_timer(c, 0);
}

void connector_stop(struct connector *c)
{
    assert(connector_ok(c));
    if (c->step == CONNECTOR_STOPPED)
        return;
    c->step = CONNECTOR_STOPPED;
    event_del(&c->connecting);
    event_del(&c->timer);
    resolver_forget(c->resolver);
    c->resolver = NULL;
    forget_addresses(c);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    assert(connector_ok(c));
}

bool connector_trouble(const struct connector *c, struct buf *ret_reason)
{
    int64_t down_ms = clock_mono().ms - c->down_ms;
    bool up = c->step == CONNECTOR_CONNECTED && !c->flaps;

    if (c->step == CONNECTOR_STOPPED || up || down_ms < CONNECTOR_TROUBLE_MS)
        return false;
    buf_printf(ret_reason, "%s: not connected to %s for %lld s: %s", c->section, c->endpoint->text,
               (long long)(down_ms / 1000),
               c->trouble[0] == '\0' ? "it does not answer" : c->trouble);
    return true;
}
