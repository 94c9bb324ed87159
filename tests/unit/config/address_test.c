/* HOST:PORT, networks, and paths as text. */
#include "unit.h"

#include "base/mem.h"
#include "config/address.h"
#include "config/paths.h"

static void host_and_port_are_parted(void **state)
{
    static const struct {
        const char *text, *host, *port;
    } rows[] = {
        {"127.0.0.1:8000", "127.0.0.1", "8000"},
        {"0.0.0.0:0", "0.0.0.0", "0"},
        {"localhost:65535", "localhost", "65535"},
        {"my-host_1.example.:080", "my-host_1.example.", "80"},
        {"[::1]:80", "::1", "80"},
        {"[::]:0", "::", "0"},
        {"[fe80::1%eth0]:7", "fe80::1%eth0", "7"},
        {"[::ffff:10.0.0.1]:1", "::ffff:10.0.0.1", "1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *host, *port;
        struct expr_fault fault;

        assert_row(address_read(bytes_of(rows[i].text), &host, &port, &fault), rows[i].text);
        assert_string_equal(host, rows[i].host);
        assert_string_equal(port, rows[i].port);
        mem_free(host);
        mem_free(port);
    }
}

static void other_texts_are_no_addresses(void **state)
{
    static const struct {
        const char *text, *message;
        size_t offset;
    } rows[] = {
        {"", "has no port", 0},
        {"8000", "has no port", 0},
        {"localhost", "has no port", 0},
        {"[::1]", "has no port", 0},
        {":80", "a host is missing", 0},
        {"h:", "is no port", 2},
        {"h:http", "is no port", 2},
        {"h:65536", "is no port", 2},
        {"h:99999999999999999999", "is no port", 2},
        {"h:-1", "is no port", 2},
        {"h: 80", "is no port", 2},
        {"::1:80", "needs brackets", 0},
        {"/run/x", "needs \"unix:\" before it", 0},
        {"./x:y", "needs \"unix:\" before it", 0},
        {"Unix:/run/x", "needs \"unix:\" before it", 5},
        {"tcp://h:80", "no URL", 0},
        {".h", "has no port", 0},
        {"[::g]:80", "is no IPv6 address", 0},
        {"[]:80", "is no IPv6 address", 0},
        {"[:80", "is no IPv6 address", 0},
        {"[::1%]:80", "is no IPv6 address", 0},
        {"[127.0.0.1]:80", "is no IPv6 address", 0},
        {"a b:80", "is no name or address", 0},
        {"*:80", "is no name or address", 0},
        {"1.2.3:80", "is no name or address", 0},
        {"256.1.1.1:80", "is no name or address", 0},
        {"1.2.3.4.5.6.7.8.9.10.11.12:80", "is no name or address", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *host, *port;
        struct expr_fault fault;

        assert_row(!address_read(bytes_of(rows[i].text), &host, &port, &fault), rows[i].text);
        assert_row(strstr(fault.message, rows[i].message) != NULL, rows[i].text);
        assert_int_equal(fault.offset, rows[i].offset);
        mem_free(fault.message);
    }
}

static void hosts_are_the_same_in_any_spelling(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1", true},
        {"127.0.0.1", "127.0.0.2", false},
        {"::1", "0:0::1", true},
        {"::ffff:10.0.0.1", "10.0.0.1", true},
        {"Example.org", "example.ORG", true},
        {"example.org", "example.com", false},
        {"fe80::1%eth0", "fe80::1%eth1", false},
        {"fe80::1%eth0", "fe80::1%eth0", true},
        {"localhost", "127.0.0.1", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(hosts_same(rows[i].a, rows[i].b) == rows[i].same, rows[i].a);
        assert_row(hosts_same(rows[i].b, rows[i].a) == rows[i].same, rows[i].a);
    }
}

static void a_host_reaches_who_listens_on_this_machine(void **state)
{
    static const struct {
        const char *host, *listening;
        bool reaches;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1", true},
        {"127.0.0.1", "0.0.0.0", true},
        {"127.0.0.9", "0.0.0.0", true},
        {"127.0.0.1", "::", true},
        {"::1", "::", true},
        {"localhost", "127.0.0.1", true},
        {"LOCALHOST", "::1", true},
        {"localhost", "localhost", true},
        {"0.0.0.0", "127.0.0.1", true},
        {"127.0.0.1", "localhost", true},
        {"127.0.0.1", "127.0.0.2", false},
        {"::1", "127.0.0.1", false},
        {"192.0.2.7", "0.0.0.0", false}, /* of whom, only the machine knows */
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "127.0.0.1", false},
        {"collector", "0.0.0.0", false},
        {"collector", "collector", true},
        {"localhost", "192.0.2.7", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_row(host_reaches(rows[i].host, rows[i].listening) == rows[i].reaches, rows[i].host);
}

static void networks_are_written_as_they_would_be_read(void **state)
{
    static const struct {
        const char *text, *written;
        size_t count;
    } rows[] = {
        {"192.0.2.7", "192.0.2.7", 1},
        {"192.0.2.7/32", "192.0.2.7", 1},
        {"10.0.0.0/8,192.168.0.0/16", "10.0.0.0/8, 192.168.0.0/16", 2},
        {"0.0.0.0/0", "0.0.0.0/0", 1},
        {"::/0", "::/0", 1},
        {"::1/128  fd00::/8", "::1, fd00::/8", 2},
        {"FD00:0:0::1", "fd00::1", 1},
        {"loopback", "127.0.0.0/8, ::1", 2},
        {"10.1.1.1, loopback ,", "10.1.1.1, 127.0.0.0/8, ::1", 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct network *networks;
        size_t count;
        struct expr_fault fault;
        struct buf written = BUF_EMPTY;

        assert_row(networks_read(bytes_of(rows[i].text), &networks, &count, &fault), rows[i].text);
        assert_int_equal(count, rows[i].count);
        networks_write(networks, count, &written);
        assert_string_equal(buf_text(&written), rows[i].written);
        buf_done(&written);
        mem_free(networks);
    }
}

/* Sockets show IPv4 peers as ::ffff:a.b.c.d. */
static void ipv4_networks_are_kept_as_ipv6(void **state)
{
    static const uint8_t expected[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 0, 0};
    struct network *networks;
    size_t count;
    struct expr_fault fault;

    (void)state;
    assert_true(networks_read(BYTES_LIT("10.1.0.0/16"), &networks, &count, &fault));
    assert_memory_equal(networks[0].address, expected, 16);
    assert_int_equal(networks[0].prefix_bits, 112);
    mem_free(networks);
}

static void other_texts_are_no_networks(void **state)
{
    static const struct {
        const char *text, *message;
        size_t offset;
    } rows[] = {
        {"", "is missing", 0},
        {" , ", "is missing", 0},
        {"example.org", "is no address or network", 0},
        {"10.0.0.1, x", "is no address or network", 10},
        {"10.0.0", "is no address or network", 0},
        {"10.0.0.0/33", "0 to 32", 9},
        {"10.0.0.0/", "0 to 32", 9},
        {"::/129", "0 to 128", 3},
        {"::/x", "0 to 128", 3},
        {"10.0.0.1/8", "write 10.0.0.0/8, or 10.0.0.1", 0},
        {"::1, fd00::1/8", "write fd00::/8, or fd00::1", 5},
        {"1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18", "is no address or network", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct network *networks;
        size_t count;
        struct expr_fault fault;

        assert_row(!networks_read(bytes_of(rows[i].text), &networks, &count, &fault), rows[i].text);
        assert_row(strstr(fault.message, rows[i].message) != NULL, rows[i].text);
        assert_int_equal(fault.offset, rows[i].offset);
        mem_free(fault.message);
    }
}

static void paths_are_made_absolute(void **state)
{
    static const struct {
        const char *folder, *path, *absolute;
    } rows[] = {
        {"/etc/joind", "a.csv", "/etc/joind/a.csv"},
        {"/etc/joind", "/a.csv", "/a.csv"},
        {"/etc/joind/", "./a//b/./c", "/etc/joind/a/b/c"},
        {"/etc/joind", "../a", "/etc/joind/../a"},
        {"/", "a", "/a"},
        {"/", ".", "/"},
        {"/x", "a/", "/x/a"},
        {"/x", "...", "/x/..."},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *path = path_absolute(rows[i].folder, bytes_of(rows[i].path));
        assert_string_equal(path, rows[i].absolute);
        mem_free(path);
    }
}

static void folders_and_stems_are_parts_of_paths(void **state)
{
    static const struct {
        const char *path, *folder, *stem;
    } rows[] = {
        {"/etc/joind/orders.ini", "/etc/joind", "orders"},
        {"/orders.ini", "/", "orders"},
        {"/etc/.ini", "/etc", ".ini"},
        {"/etc/a.b.ini", "/etc", "a.b"},
        {"/etc/orders", "/etc", "orders"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *folder = path_folder(rows[i].path), *stem = path_stem(rows[i].path);
        assert_string_equal(folder, rows[i].folder);
        assert_string_equal(stem, rows[i].stem);
        mem_free(folder);
        mem_free(stem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_and_port_are_parted),
        cmocka_unit_test(other_texts_are_no_addresses),
        cmocka_unit_test(hosts_are_the_same_in_any_spelling),
        cmocka_unit_test(a_host_reaches_who_listens_on_this_machine),
        cmocka_unit_test(networks_are_written_as_they_would_be_read),
        cmocka_unit_test(ipv4_networks_are_kept_as_ipv6),
        cmocka_unit_test(other_texts_are_no_networks),
        cmocka_unit_test(paths_are_made_absolute),
        cmocka_unit_test(folders_and_stems_are_parts_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
