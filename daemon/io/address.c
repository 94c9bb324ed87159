#include "io/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "base/bytes.h"

void address_write(const struct sockaddr_storage *a, struct buf *to)
{
    char text[INET6_ADDRSTRLEN];

    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
        buf_printf(to, "%s:%u", text, ntohs(v4->sin_port));
    } else if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
        buf_printf(to, "[%s]:%u", text, ntohs(v6->sin6_port));
    } else {
        buf_append_text(to, "(unknown)");
    }
}

/* A peer's own unix address is nearly always empty. */
static void unix_peer_write(int fd, const struct sockaddr_storage *here, struct buf *to)
{
    const struct sockaddr_un *a = (const struct sockaddr_un *)here;
    struct ucred who = {0};
    socklen_t length = sizeof(who);

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length);
    buf_printf(to, "unix:%s (pid %d, uid %u)", a->sun_path, who.pid, who.uid);
}

void address_write_peer(int fd, const struct sockaddr_storage *peer, struct buf *to)
{
    struct sockaddr_storage here = {0};
    socklen_t length = sizeof(here);

    if (peer->ss_family == AF_UNIX) {
        getsockname(fd, (struct sockaddr *)&here, &length);
        unix_peer_write(fd, &here, to);
    } else {
        address_write(peer, to);
    }
}

/* IPv4 as ::ffff:a.b.c.d, as in struct network. */
static void address_bytes(const struct sockaddr_storage *a, uint8_t ret[16])
{
    memset(ret, 0, 16);
    if (a->ss_family == AF_INET6) {
        memcpy(ret, &((const struct sockaddr_in6 *)a)->sin6_addr, 16);
        return;
    }
    ret[10] = ret[11] = 0xff;
    memcpy(ret + 12, &((const struct sockaddr_in *)a)->sin_addr, 4);
}

static bool network_has(const struct network *n, const uint8_t address[16])
{
    unsigned whole = n->prefix_bits / 8, rest = n->prefix_bits % 8;

    if (memcmp(n->address, address, whole) != 0)
        return false;
    return rest == 0 || ((n->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

bool address_allowed(const struct sockaddr_storage *a, const struct network *allow, size_t count)
{
    uint8_t address[16];

    if (a->ss_family == AF_UNIX)
        return true;
    address_bytes(a, address);
    for (size_t i = 0; i < count; i++)
        if (network_has(&allow[i], address))
            return true;
    return count == 0;
}
