#include "io/binding.h"

#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/log.h"
#include "io/passed.h"

static int stream_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* -1, with errno of what failed. */
static int close_failed(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}

static void tell(const struct endpoint *e, const char *section, const char *reason,
                 const char *way_out)
{
    log_error("%s: cannot listen on %s: %s%s (--set %s.listen=... overrides the file)", section,
              e->text, reason, way_out, section);
}

/* --- TCP --- */

static int bind_address(const struct addrinfo *a, int backlog)
{
    int on = 1, fd = stream_socket(a->ai_family);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, backlog) == 0)
        return fd;
    return close_failed(fd);
}

static const char *tcp_way_out(int error)
{
    switch (error) {
    case EADDRINUSE:
        return "; another program has this port: stop it, or choose another port";
    case EACCES:
        return "; ports below 1024 need a right that this user does not have: choose a higher one";
    case EADDRNOTAVAIL:
        return "; no interface of this machine has this address";
    default:
        return "";
    }
}

static int bind_tcp(const struct endpoint *e, const char *section, int backlog)
{
    struct addrinfo hints = {
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *found = NULL;
    int error = getaddrinfo(e->host, e->port, &hints, &found), fd;

    if (error != 0) {
        tell(e, section, gai_strerror(error), "");
        return -1;
    }
    fd = bind_address(found, backlog);
    if (fd < 0)
        tell(e, section, strerror(errno), tcp_way_out(errno));
    freeaddrinfo(found);
    return fd;
}

/* --- unix --- */

/* 0: somebody has this socket. ECONNREFUSED: nobody has it any more. EACCES: this user may not
 * connect to it, so that cannot be told. A datagram socket asks, for a stream socket's connection
 * would be one to its listener, and end a batch there. A living one says "wrong type". */
static int probe(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int error = connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0 ? errno : 0;

    close(fd);
    return error == ECONNREFUSED || error == EACCES ? error : 0;
}

static bool is_socket_file(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* By the umask, so that there is no moment in which others could connect. */
static int bind_with_mode(int fd, const struct sockaddr_un *a, mode_t mode)
{
    mode_t before = umask(0777 & ~mode);
    int result = bind(fd, (const struct sockaddr *)a, sizeof(*a)), error = errno;

    umask(before);
    errno = error;
    return result;
}

static int bind_path(const struct endpoint *e, const struct sockaddr_un *a, int backlog)
{
    int fd = stream_socket(AF_UNIX), bound;

    if (fd < 0)
        return -1;
    bound = bind_with_mode(fd, a, (mode_t)e->mode);
    if (bound < 0 && errno == EADDRINUSE) {
        if (is_socket_file(e->path) && probe(a) == ECONNREFUSED && unlink(e->path) == 0)
            bound = bind_with_mode(fd, a, (mode_t)e->mode);
        else
            errno = EADDRINUSE;
    }
    if (bound == 0 && listen(fd, backlog) == 0)
        return fd;
    return close_failed(fd);
}

static void tell_path_in_use(const struct endpoint *e, const char *section,
                             const struct sockaddr_un *a)
{
    int state = probe(a);

    if (!is_socket_file(e->path))
        tell(e, section, "a file that is no socket is there",
             ": move it away, or choose another path");
    else if (state == ECONNREFUSED)
        tell(e, section, "an old socket is there, and this user may not remove it", "");
    else if (state == EACCES)
        tell(e, section, "a socket is there that this user may not use",
             ", so whether somebody listens on it cannot be told: remove it, or choose another "
             "path");
    else
        tell(e, section, strerror(EADDRINUSE),
             "; another program has this socket: stop it, or choose another path");
}

static const char *unix_way_out(int error)
{
    switch (error) {
    case ENOENT:
        return "; its folder is not there: make it, or choose another path";
    case EACCES:
        return "; this user may not make files in its folder";
    default:
        return "";
    }
}

static int bind_unix(const struct endpoint *e, const char *section, int backlog)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(e->path) >= sizeof(a.sun_path)) {
        tell(e, section, strerror(ENAMETOOLONG), "; a unix socket's path has at most 107 bytes");
        return -1;
    }
    strcpy(a.sun_path, e->path);
    fd = bind_path(e, &a, backlog);
    if (fd < 0 && errno == EADDRINUSE)
        tell_path_in_use(e, section, &a);
    else if (fd < 0)
        tell(e, section, strerror(errno), unix_way_out(errno));
    return fd;
}

static void note_file(struct binding *b)
{
    struct stat st;

    if (lstat(b->endpoint->path, &st) < 0)
        return;
    b->device = st.st_dev;
    b->inode = st.st_ino;
}

static void remove_file(const struct binding *b)
{
    struct stat st;

    if (lstat(b->endpoint->path, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode)
        unlink(b->endpoint->path);
}

/* --- all --- */

bool binding_open(struct binding *b, const struct endpoint *e, const char *section, int backlog)
{
    *b = (struct binding){.endpoint = e, .fd = -1};
    switch (e->family) {
    case FAMILY_TCP:
        b->fd = bind_tcp(e, section, backlog);
        break;
    case FAMILY_UNIX:
        b->fd = bind_unix(e, section, backlog);
        if (b->fd >= 0)
            note_file(b);
        break;
    case FAMILY_SYSTEMD:
        b->fd = passed_socket(e->passed_name, section);
        break;
    }
    return b->fd >= 0;
}

void binding_refuse(struct binding *b)
{
    struct sock_filter drop_it = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog drop_all = {.len = 1, .filter = &drop_it};

    assert(b->fd >= 0 && b->endpoint->family != FAMILY_SYSTEMD);
    if (b->endpoint->family == FAMILY_UNIX)
        shutdown(b->fd, SHUT_RD);
    else
        setsockopt(b->fd, SOL_SOCKET, SO_ATTACH_FILTER, &drop_all, sizeof(drop_all));
}

void binding_close(struct binding *b)
{
    if (b->fd < 0)
        return;
    if (b->endpoint->family == FAMILY_UNIX)
        remove_file(b);
    close(b->fd);
    b->fd = -1;
}
