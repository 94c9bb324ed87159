#include "tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

_Noreturn void tool_die(const char *what)
{
    if (errno != 0)
        fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    else
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

int64_t tool_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t tool_number(const char *what, const char *text, uint64_t min)
{
    char *end = NULL;
    uint64_t number = 0;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || number < min) {
        errno = 0;
        tool_die(what);
    }
    return number;
}

int tool_connect(const char *address, const char *port)
{
    struct sockaddr_in peer = {.sin_family = AF_INET};
    int fd = -1;

    if (inet_pton(AF_INET, address, &peer.sin_addr) != 1) {
        errno = EINVAL;
        tool_die(address);
    }
    peer.sin_port = htons((uint16_t)tool_number("bad port", port, 1));
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&peer, sizeof(peer)) != 0)
        tool_die(port);
    return fd;
}
