#include "io/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>

/* A lost probe is no death: so many are sent, over as long again as it was idle. */
#define PROBES 4

static void set(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof(value));
}

bool socket_is_tcp(int fd)
{
    int domain = AF_UNSPEC;
    socklen_t length = sizeof(domain);

    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length);
    return domain == AF_INET || domain == AF_INET6;
}

void socket_keepalive(int fd, int64_t ms)
{
    int idle_s = ms >= 1000 ? (int)(ms / 1000) : 1;

    if (!socket_is_tcp(fd))
        return;
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, idle_s / PROBES > 0 ? idle_s / PROBES : 1);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
}

void socket_for_rows(int fd)
{
    if (socket_is_tcp(fd))
        set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}
