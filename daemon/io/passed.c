#include "io/passed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "base/buf.h"
#include "base/mem.h"
#include "io/log.h"

/* The process's own, as its environment is: read once. */
static struct {
    bool read;
    int count; /* below 0: an error, as -errno */
    char **names;
    bool *taken;
} passed;

static int descriptor(int i)
{
    return SD_LISTEN_FDS_START + i;
}

static void read_once(void)
{
    if (passed.read)
        return;
    passed.read = true;
    passed.count = sd_listen_fds_with_names(true, &passed.names);
    if (passed.count > 0)
        passed.taken = mem_alloc_zeroed((size_t)passed.count, sizeof(*passed.taken));
}

/* How many have that name? *ret_at: the first of them. */
static int find(const char *name, int *ret_at)
{
    int found = 0;

    for (int i = 0; i < passed.count; i++) {
        if (strcmp(passed.names[i], name) != 0)
            continue;
        if (found++ == 0)
            *ret_at = i;
    }
    return found;
}

static void list_names(struct buf *to)
{
    for (int i = 0; i < passed.count; i++)
        buf_printf(to, "%s%s", i == 0 ? "" : ", ", passed.names[i]);
}

static void tell_not_found(const char *name, const char *section, int found)
{
    struct buf names = BUF_EMPTY;

    list_names(&names);
    if (passed.count < 0)
        log_error("%s: cannot take the sockets that were passed: %s (LISTEN_FDS, LISTEN_FDNAMES)",
                  section, strerror(-passed.count));
    else if (passed.count == 0)
        log_error("%s: no socket was passed, so systemd:%s cannot be had: start its socket unit "
                  "(FileDescriptorName=%s, and Service= this service) first",
                  section, name, name);
    else if (found == 0)
        log_error("%s: no socket was passed by the name %s (passed: %s): FileDescriptorName= of "
                  "the socket unit gives it",
                  section, name, buf_text(&names));
    else
        log_error("%s: %d sockets were passed by the name %s (passed: %s): each needs its own; a "
                  "socket unit should have one ListenStream=",
                  section, found, name, buf_text(&names));
    buf_done(&names);
}

/* One socket has one inode, under however many descriptors. */
static bool is_same(int a, int b)
{
    struct stat first, second;

    return fstat(descriptor(a), &first) == 0 && fstat(descriptor(b), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Another that is in use already and is the same socket; -1: none. */
static int find_twin(int at)
{
    for (int i = 0; i < passed.count; i++)
        if (i != at && passed.taken[i] && is_same(i, at))
            return i;
    return -1;
}

/* It is blocking as it comes, and one accept() would stop the loop. */
static void make_ours(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC);
}

int passed_socket(const char *name, const char *section)
{
    int found, at = 0, twin;

    read_once();
    found = find(name, &at);
    if (found != 1) {
        tell_not_found(name, section, found);
        return -1;
    }
    passed.taken[at] = true;
    if (sd_is_socket(descriptor(at), 0, SOCK_STREAM, 1) <= 0) {
        log_error("%s: what was passed by the name %s is no listening stream socket: the socket "
                  "unit needs ListenStream= and Accept=no",
                  section, name);
        return -1;
    }
    twin = find_twin(at);
    if (twin >= 0) {
        log_error("%s: what was passed by the names %s and %s is one and the same socket: each end "
                  "needs its own",
                  section, passed.names[twin], name);
        return -1;
    }
    make_ours(descriptor(at));
    return descriptor(at);
}

void passed_tell_unused(void)
{
    read_once();
    for (int i = 0; i < passed.count; i++)
        if (!passed.taken[i])
            log_warning("a socket was passed by the name %s, and nobody takes it (listen = "
                        "systemd:%s would): who connects to it waits in vain",
                        passed.names[i], passed.names[i]);
}
