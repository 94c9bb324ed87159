/*
 * names: a world of names that a test can choose, as an LD_PRELOAD library.
 *
 *     silent.test    is asked for, for an hour: name servers that do not answer
 *     nobody.test    is not known
 *     two.test       has two addresses: 127.0.0.2, then 127.0.0.1
 *
 * With NAMES_SELF set, a connection to 127.0.0.3 starts at the very port where it goes to:
 * where nobody listens, it is made with itself.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);
typedef int connecting(int, const struct sockaddr *, socklen_t);

static int look_up(const char *host, const char *port, const struct addrinfo *hints,
                   struct addrinfo **ret)
{
    static lookup *real;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(host, port, hints, ret);
}

int getaddrinfo(const char *restrict host, const char *restrict port,
                const struct addrinfo *restrict hints, struct addrinfo **restrict ret)
{
    int error;

    if (host == NULL || strstr(host, ".test") == NULL || hints->ai_flags & AI_NUMERICHOST)
        return look_up(host, port, hints, ret);
    if (strcmp(host, "silent.test") == 0)
        sleep(3600);
    if (strcmp(host, "two.test") != 0)
        return EAI_NONAME;
    error = look_up("127.0.0.2", port, hints, ret);
    return error != 0 ? error : look_up("127.0.0.1", port, hints, &(*ret)->ai_next);
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
    static connecting *real;
    const struct sockaddr_in *in = (const struct sockaddr_in *)to;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "connect");
    if (getenv("NAMES_SELF") != NULL && to->sa_family == AF_INET &&
        in->sin_addr.s_addr == inet_addr("127.0.0.3"))
        bind(fd, to, size);
    return real(fd, to, size);
}
