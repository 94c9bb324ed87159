#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/link.h"

/* A link, and what is at the other end of it. */
struct ends {
    struct link link; /* first: on_readable() and on_writable() get it */
    struct event_base *base;
    int peer;
    unsigned readable, writable; /* how often it was told */
};

static void on_readable(struct link *l)
{
    ((struct ends *)l)->readable++;
}

static void on_writable(struct link *l)
{
    ((struct ends *)l)->writable++;
}

static const struct link_owner owner = {.readable = on_readable, .writable = on_writable};

static void open_ends(struct ends *e, int fd, int peer)
{
    *e = (struct ends){.base = event_base_new(), .peer = peer};
    link_init(&e->link, e->base, fd, &owner);
}

static void open_pair(struct ends *e)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    open_ends(e, fds[0], fds[1]);
}

static void open_tcp(struct ends *e)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(a);
    int listening = socket(AF_INET, SOCK_STREAM, 0), peer = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listening, (struct sockaddr *)&a, size), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&a, &size), 0);
    assert_int_equal(connect(peer, (struct sockaddr *)&a, size), 0);
    open_ends(e, accept4(listening, NULL, NULL, SOCK_NONBLOCK), peer);
    close(listening);
}

static void close_peer(struct ends *e)
{
    close(e->peer);
    e->peer = -1;
}

static void close_ends(struct ends *e)
{
    link_done(&e->link);
    event_base_free(e->base);
    if (e->peer >= 0)
        close(e->peer);
}

static void turn(struct ends *e)
{
    event_base_loop(e->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static void assert_reads(struct ends *e, ssize_t wanted)
{
    char bytes[100];

    assert_int_equal(link_read(&e->link, bytes, sizeof(bytes)), wanted);
}

static void say(struct ends *e, const char *text)
{
    assert_int_equal(write(e->peer, text, strlen(text)), strlen(text));
}

/* Writes until there is no room; returns how much that was. */
static size_t fill(struct ends *e)
{
    static const char some[100000];
    size_t all = 0;
    ssize_t n;

    while ((n = link_write(&e->link, some, sizeof(some))) > 0)
        all += (size_t)n;
    assert_int_equal(n, 0);
    return all;
}

/* The peer reads all that is there. */
static size_t take(struct ends *e)
{
    static char some[100000];
    size_t all = 0;
    ssize_t n;

    while ((n = recv(e->peer, some, sizeof(some), MSG_DONTWAIT)) > 0)
        all += (size_t)n;
    return all;
}

static void what_it_is_is_seen(void **state)
{
    static const struct {
        const char *path;
        enum link_kind kind;
    } files[] = {{"/dev/null", LINK_DEVICE}, {"/proc/self/exe", LINK_FILE}};
    struct ends e;
    int pipes[2];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        open_ends(&e, open(files[i].path, O_RDONLY), -1);
        assert_int_equal(e.link.kind, files[i].kind);
        assert_true(link_is_always_ready(&e.link));
        close_ends(&e);
    }
    assert_int_equal(pipe(pipes), 0);
    open_ends(&e, pipes[0], pipes[1]);
    assert_int_equal(e.link.kind, LINK_PIPE);
    close_ends(&e);
    open_pair(&e);
    assert_int_equal(e.link.kind, LINK_LOCAL);
    close_ends(&e);
    open_tcp(&e);
    assert_int_equal(e.link.kind, LINK_TCP);
    close_ends(&e);
}

static void reading_gives_what_is_there_and_never_waits(void **state)
{
    struct ends e;

    (void)state;
    open_pair(&e);
    assert_false(link_has_input(&e.link));
    assert_reads(&e, 0);
    say(&e, "abc");
    assert_true(link_has_input(&e.link));
    assert_int_equal(link_unread(&e.link), 3);
    assert_reads(&e, 3);
    assert_reads(&e, 0);
    close_ends(&e);
}

/* A blocking pipe, as standard input may be one. */
static void what_is_shared_is_not_waited_for(void **state)
{
    struct ends e;
    int pipes[2];

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    open_ends(&e, pipes[0], pipes[1]);
    e.link.shared = true;
    assert_reads(&e, 0);
    say(&e, "abc");
    assert_reads(&e, 3);
    close_peer(&e);
    assert_reads(&e, LINK_ENDED);
    close_ends(&e);
}

static void an_end_in_order_comes_behind_all_bytes(void **state)
{
    struct ends e;

    (void)state;
    open_pair(&e);
    say(&e, "abc");
    shutdown(e.peer, SHUT_WR);
    assert_true(link_has_input(&e.link));
    assert_reads(&e, 3);
    assert_true(link_has_input(&e.link));
    assert_reads(&e, LINK_ENDED);
    assert_false(link_is_gone(&e.link)); /* it still reads */
    assert_int_equal(link_write(&e.link, "x", 1), 1);
    close_ends(&e);
}

static void a_reset_is_no_end_in_order(void **state)
{
    struct ends e;

    (void)state;
    open_tcp(&e);
    setsockopt(e.peer, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
               sizeof(struct linger));
    close_peer(&e);
    assert_true(link_is_gone(&e.link));
    assert_reads(&e, LINK_BROKEN);
    assert_string_equal(link_why(&e.link), strerror(ECONNRESET));
    close_ends(&e);
}

static void writing_to_who_has_gone_breaks_it(void **state)
{
    struct ends e;

    (void)state;
    open_pair(&e);
    close_peer(&e);
    assert_true(link_is_gone(&e.link));
    assert_int_equal(link_write(&e.link, "x", 1), LINK_BROKEN);
    assert_string_equal(link_why(&e.link), strerror(EPIPE));
    close_ends(&e);
}

static void writing_gives_what_there_is_room_for_and_tells_of_more(void **state)
{
    struct ends e;
    size_t written;

    (void)state;
    open_pair(&e);
    written = fill(&e);
    assert_true(link_unacknowledged(&e.link) >= written);
    link_await_room(&e.link);
    link_await_room(&e.link);
    turn(&e);
    assert_int_equal(e.writable, 0);
    assert_int_equal(take(&e), written);
    turn(&e);
    turn(&e);
    assert_int_equal(e.writable, 1);
    assert_int_equal(link_unacknowledged(&e.link), 0);
    close_ends(&e);
}

static void what_is_watched_tells_until_all_is_read(void **state)
{
    struct ends e;

    (void)state;
    open_pair(&e);
    link_watch(&e.link);
    turn(&e);
    assert_int_equal(e.readable, 0);
    say(&e, "abc");
    turn(&e);
    turn(&e);
    assert_int_equal(e.readable, 2);
    link_unwatch(&e.link);
    turn(&e);
    assert_int_equal(e.readable, 2);
    link_watch(&e.link);
    assert_reads(&e, 3);
    turn(&e);
    assert_int_equal(e.readable, 2);
    close_ends(&e);
}

static void a_file_is_ready_at_once(void **state)
{
    struct ends e;

    (void)state;
    open_ends(&e, open("/dev/null", O_RDWR), -1);
    link_watch(&e.link);
    link_watch(&e.link);
    assert_int_equal(e.readable, 1);
    assert_reads(&e, LINK_ENDED);
    assert_int_equal(link_write(&e.link, "x", 1), 1);
    link_unwatch(&e.link);
    close_ends(&e);
}

static void a_full_disk_is_said(void **state)
{
    struct ends e;

    (void)state;
    open_ends(&e, open("/dev/full", O_WRONLY), -1);
    assert_int_equal(link_write(&e.link, "x", 1), LINK_BROKEN);
    assert_string_equal(link_why(&e.link), strerror(ENOSPC));
    close_ends(&e);
}

static void a_half_close_lets_the_peer_go_on(void **state)
{
    struct ends e;
    char byte;

    (void)state;
    open_pair(&e);
    link_half_close(&e.link);
    assert_int_equal(read(e.peer, &byte, 1), 0);
    say(&e, "abc");
    assert_reads(&e, 3);
    close_ends(&e);
}

/* What is not acknowledged arrives nowhere, and is not asked for any more. */
static void after_a_reset_nothing_is_on_its_way(void **state)
{
    struct ends e;

    (void)state;
    open_tcp(&e);
    fill(&e);
    assert_true(link_unacknowledged(&e.link) > 0);
    link_reset(&e.link);
    assert_int_equal(link_unacknowledged(&e.link), 0);
    take(&e);
    assert_int_equal(errno, ECONNRESET);
    close_ends(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_is_is_seen),
        cmocka_unit_test(reading_gives_what_is_there_and_never_waits),
        cmocka_unit_test(what_is_shared_is_not_waited_for),
        cmocka_unit_test(an_end_in_order_comes_behind_all_bytes),
        cmocka_unit_test(a_reset_is_no_end_in_order),
        cmocka_unit_test(writing_to_who_has_gone_breaks_it),
        cmocka_unit_test(writing_gives_what_there_is_room_for_and_tells_of_more),
        cmocka_unit_test(what_is_watched_tells_until_all_is_read),
        cmocka_unit_test(a_file_is_ready_at_once),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(a_half_close_lets_the_peer_go_on),
        cmocka_unit_test(after_a_reset_nothing_is_on_its_way),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("io/link", tests, NULL, NULL);
}
