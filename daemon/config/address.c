#include "config/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "lang/expr_lexer.h"

#define PORT_MAX       65535
#define HOST_MAX_BYTES 255

/* An IPv4 address is ::ffff:a.b.c.d. */
#define V4_BITS_BEFORE 96
static const uint8_t v4_before[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* --- HOST:PORT --- */

static bool read_number(struct bytes text, int max, int *ret)
{
    int value = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (!is_digit(text.p[i]))
            return false;
        value = value * 10 + (text.p[i] - '0');
        if (value > max)
            return false;
    }
    *ret = value;
    return text.n > 0;
}

static bool is_host(struct bytes text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !is_digit(c) && c != '.' &&
            c != '-' && c != '_')
            return false;
    }
    return text.n > 0;
}

/* Dots and digits are an IPv4 address, or nothing. */
static bool is_wrong_v4(struct bytes host)
{
    char address[INET_ADDRSTRLEN] = "";
    struct in_addr ignored;

    for (size_t i = 0; i < host.n; i++)
        if (!is_digit(host.p[i]) && host.p[i] != '.')
            return false;
    if (host.n < sizeof(address))
        memcpy(address, host.p, host.n);
    return inet_pton(AF_INET, address, &ignored) != 1;
}

/* A zone may follow, as in fe80::1%eth0. */
static bool is_v6(struct bytes text)
{
    const char *zone = text.n > 0 ? memchr(text.p, '%', text.n) : NULL;
    char address[INET6_ADDRSTRLEN];
    struct in6_addr ignored;
    size_t n = zone != NULL ? (size_t)(zone - text.p) : text.n;

    if (n >= sizeof(address) || (zone != NULL && n + 1 == text.n))
        return false;
    memcpy(address, text.p, n);
    address[n] = '\0';
    return inet_pton(AF_INET6, address, &ignored) == 1;
}

/* Where the host ends, and the `:PORT` begins; false: there is none. */
static bool find_port(struct bytes text, size_t *ret)
{
    for (size_t i = text.n; i > 0; i--)
        if (text.p[i - 1] == ':' || text.p[i - 1] == ']') {
            *ret = i - 1;
            return text.p[i - 1] == ':';
        }
    return false;
}

static bool read_host(struct bytes host, struct expr_fault *ret_fault)
{
    if (host.n > HOST_MAX_BYTES)
        return expr_fault_at(ret_fault, 0, "a host of more than %d bytes", HOST_MAX_BYTES);
    if (host.n == 0)
        return expr_fault_at(ret_fault, 0,
                             "a host is missing before the port (0.0.0.0 and [::] are all "
                             "addresses of this machine)");
    if (host.p[0] == '[') {
        struct bytes inside = {host.p + 1, host.n - 2};
        if (host.n < 2 || host.p[host.n - 1] != ']' || !is_v6(inside))
            return expr_fault_at(ret_fault, 0, "\"%.*s\" is no IPv6 address in brackets",
                                 (int)host.n, host.p);
        return true;
    }
    if (memchr(host.p, ':', host.n) != NULL)
        return expr_fault_at(ret_fault, 0, "an IPv6 address needs brackets: [V6]:PORT");
    if (!is_host(host) || is_wrong_v4(host))
        return expr_fault_at(ret_fault, 0, "\"%.*s\" is no name or address of a host", (int)host.n,
                             host.p);
    return true;
}

static bool is_path(struct bytes text)
{
    return text.n > 0 && (text.p[0] == '/' || (text.p[0] == '.' && memchr(text.p, '/', text.n)));
}

bool address_read(struct bytes text, char **ret_host, char **ret_port, struct expr_fault *ret_fault)
{
    struct bytes host, port;
    size_t colon;
    int number;
    char digits[8];

    if (is_path(text))
        return expr_fault_at(ret_fault, 0, "a path needs \"unix:\" before it");
    if (memmem(text.p, text.n, "://", 3) != NULL)
        return expr_fault_at(ret_fault, 0, "this is no URL: write HOST:PORT or [V6]:PORT");
    if (!find_port(text, &colon))
        return expr_fault_at(ret_fault, 0, "\"%.*s\" has no port: write HOST:PORT or [V6]:PORT",
                             (int)text.n, text.p);
    host = (struct bytes){text.p, colon};
    port = (struct bytes){text.p + colon + 1, text.n - colon - 1};
    if (!read_host(host, ret_fault))
        return false;
    if (is_path(port))
        return expr_fault_at(ret_fault, colon + 1, "a path needs \"unix:\" before it");
    if (!read_number(port, PORT_MAX, &number))
        return expr_fault_at(ret_fault, colon + 1, "\"%.*s\" is no port (0 to 65535)", (int)port.n,
                             port.p);
    if (host.p[0] == '[')
        host = (struct bytes){host.p + 1, host.n - 2};
    *ret_host = mem_strndup(host.p, host.n);
    snprintf(digits, sizeof(digits), "%d", number);
    *ret_port = mem_strdup(digits);
    return true;
}

/* --- which host --- */

/* As bytes of IPv6. False: it is a name, or has a zone. */
static bool number_of(const char *host, uint8_t ret[16])
{
    memcpy(ret, v4_before, sizeof(v4_before));
    return inet_pton(AF_INET, host, ret + sizeof(v4_before)) == 1 ||
           inet_pton(AF_INET6, host, ret) == 1;
}

bool hosts_same(const char *a, const char *b)
{
    uint8_t of_a[16], of_b[16];

    if (number_of(a, of_a) && number_of(b, of_b))
        return memcmp(of_a, of_b, sizeof(of_a)) == 0;
    return strcasecmp(a, b) == 0;
}

/* This machine, by an address that cannot be told. */
static bool is_any_of_ours(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || hosts_same(host, "0.0.0.0") ||
           hosts_same(host, "::");
}

static bool is_ours(const char *host)
{
    uint8_t number[16];

    return is_any_of_ours(host) || hosts_same(host, "::1") ||
           (number_of(host, number) && memcmp(number, v4_before, sizeof(v4_before)) == 0 &&
            number[sizeof(v4_before)] == 127);
}

bool host_reaches(const char *host, const char *listening)
{
    if (is_any_of_ours(host) || is_any_of_ours(listening))
        return is_ours(host) && is_ours(listening);
    return hosts_same(host, listening);
}

/* --- networks --- */

static bool is_v4(const struct network *n)
{
    return memcmp(n->address, v4_before, sizeof(v4_before)) == 0 &&
           n->prefix_bits >= V4_BITS_BEFORE;
}

/* Clears what is behind the prefix. Was anything there? */
static bool clear_host_bits(struct network *n)
{
    bool any = false;

    for (int bit = n->prefix_bits; bit < 128; bit++) {
        uint8_t mask = (uint8_t)(0x80 >> bit % 8);
        any = any || (n->address[bit / 8] & mask) != 0;
        n->address[bit / 8] &= (uint8_t)~mask;
    }
    return any;
}

/* Sets how many bits a prefix can have, and the address. */
static bool read_address(const char *text, struct network *n, int *ret_bits)
{
    memcpy(n->address, v4_before, sizeof(v4_before));
    *ret_bits = 32;
    if (inet_pton(AF_INET, text, n->address + sizeof(v4_before)) == 1)
        return true;
    *ret_bits = 128;
    return inet_pton(AF_INET6, text, n->address) == 1;
}

static bool no_network(struct bytes text, size_t offset, struct expr_fault *ret_fault)
{
    return expr_fault_at(ret_fault, offset,
                         "\"%.*s\" is no address or network (as 192.0.2.7, 10.0.0.0/8, ::1, "
                         "fd00::/8, or the word loopback)",
                         (int)text.n, text.p);
}

static bool read_network(struct bytes text, size_t offset, struct network *ret,
                         struct expr_fault *ret_fault)
{
    const char *slash = memchr(text.p, '/', text.n);
    size_t n = slash != NULL ? (size_t)(slash - text.p) : text.n;
    char address[INET6_ADDRSTRLEN];
    int bits, prefix;

    if (n >= sizeof(address))
        return no_network(text, offset, ret_fault);
    memcpy(address, text.p, n);
    address[n] = '\0';
    if (!read_address(address, ret, &bits))
        return no_network(text, offset, ret_fault);
    prefix = bits;
    if (slash != NULL && !read_number((struct bytes){slash + 1, text.n - n - 1}, bits, &prefix))
        return expr_fault_at(ret_fault, offset + n + 1, "a prefix is a number from 0 to %d here",
                             bits);
    ret->prefix_bits = (uint8_t)(prefix + 128 - bits);
    if (clear_host_bits(ret)) {
        struct buf meant = BUF_EMPTY;
        networks_write(ret, 1, &meant);
        expr_fault_at(ret_fault, offset, "\"%.*s\" has bits behind its prefix: write %s, or %s",
                      (int)text.n, text.p, buf_text(&meant), address);
        buf_done(&meant);
        return false;
    }
    return true;
}

static void append(struct network **list, size_t *count, struct network n)
{
    *list = mem_realloc(*list, (*count + 1) * sizeof(**list));
    (*list)[(*count)++] = n;
}

static void append_loopback(struct network **list, size_t *count)
{
    struct expr_fault none;
    struct network v4, v6;

    if (read_network(BYTES_LIT("127.0.0.0/8"), 0, &v4, &none) &&
        read_network(BYTES_LIT("::1"), 0, &v6, &none)) {
        append(list, count, v4);
        append(list, count, v6);
    }
}

static bool parts_networks(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

bool networks_read(struct bytes text, struct network **ret, size_t *ret_count,
                   struct expr_fault *ret_fault)
{
    struct network *list = NULL, n;
    size_t count = 0, at = 0;

    while (at < text.n) {
        size_t start = at;
        struct bytes word;

        if (parts_networks(text.p[at])) {
            at++;
            continue;
        }
        while (at < text.n && !parts_networks(text.p[at]))
            at++;
        word = (struct bytes){text.p + start, at - start};
        if (bytes_equal(word, BYTES_LIT("loopback"))) {
            append_loopback(&list, &count);
            continue;
        }
        if (!read_network(word, start, &n, ret_fault)) {
            mem_free(list);
            return false;
        }
        append(&list, &count, n);
    }
    if (count == 0) /* an empty list would let everybody in */
        return expr_fault_at(ret_fault, 0, "an address or a network is missing");
    *ret = list;
    *ret_count = count;
    return true;
}

void networks_write(const struct network *networks, size_t count, struct buf *to)
{
    assert(networks != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        const struct network *n = &networks[i];
        bool v4 = is_v4(n);
        int prefix = v4 ? n->prefix_bits - V4_BITS_BEFORE : n->prefix_bits;
        char address[INET6_ADDRSTRLEN];

        inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? n->address + V4_BITS_BEFORE / 8 : n->address,
                  address, sizeof(address));
        buf_printf(to, "%s%s", i > 0 ? ", " : "", address);
        if (prefix < (v4 ? 32 : 128))
            buf_printf(to, "/%d", prefix);
    }
}
