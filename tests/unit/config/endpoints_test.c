/* listen and connect, of sockets of every kind, and what comes in by them. */
#include "unit.h"

#include "config/reader.h"

static const char sockets_text[] = "[left]\n"
                                   "listen = unix:in.sock\n"
                                   "fields = id\n"
                                   "framing = octet\n"
                                   "mode = 600\n"
                                   "[right]\n"
                                   "connect = Server.example:09000\n"
                                   "fields = id\n"
                                   "framing = auto\n"
                                   "envelope = syslog\n"
                                   "[join]\n"
                                   "size = 10s\n"
                                   "[output]\n"
                                   "listen = systemd:joind-out\n"
                                   "[rejects]\n"
                                   "connect = unix:\"../odd ;name\"\n"
                                   "[http]\n"
                                   "listen = unix:/run/http\n";

static struct config *read_sockets(const struct config_override *overrides, size_t count)
{
    const struct config_source source = {
        .path = "conf/orders.ini",
        .text = BYTES_LIT(sockets_text),
        .current_directory = "/home/ann",
        .overrides = overrides,
        .override_count = count,
    };
    struct diag diag;
    struct config *c;

    diag_init(&diag);
    c = config_read(&source, &diag);
    for (size_t i = 0; i < diag.count; i++)
        print_error("%s\n", diag.messages[i].text);
    assert_non_null(c);
    diag_done(&diag);
    return c;
}

static void sockets_say_which(void **state)
{
    struct config *c = read_sockets(NULL, 0);
    const struct endpoint *left = &c->input[SIDE_LEFT].endpoint;
    const struct endpoint *right = &c->input[SIDE_RIGHT].endpoint;
    const struct endpoint *output = &c->output[OUTPUT_RESULTS].endpoint;
    const struct endpoint *rejects = &c->output[OUTPUT_REJECTS].endpoint;

    (void)state;
    assert_int_equal(left->kind, ENDPOINT_LISTEN);
    assert_int_equal(left->family, FAMILY_UNIX);
    assert_string_equal(left->text, "unix:in.sock");
    assert_string_equal(left->path, "/home/ann/conf/in.sock");
    assert_int_equal(left->mode, 0600);
    assert_int_equal(right->kind, ENDPOINT_CONNECT);
    assert_int_equal(right->family, FAMILY_TCP);
    assert_string_equal(right->text, "Server.example:09000");
    assert_string_equal(right->host, "Server.example");
    assert_string_equal(right->port, "9000");
    assert_int_equal(right->keepalive_ms, 60000);
    assert_int_equal(output->kind, ENDPOINT_LISTEN);
    assert_int_equal(output->family, FAMILY_SYSTEMD);
    assert_string_equal(output->passed_name, "joind-out");
    assert_int_equal(output->max_connections, 1024);
    assert_int_equal(rejects->kind, ENDPOINT_CONNECT);
    assert_int_equal(rejects->family, FAMILY_UNIX);
    assert_string_equal(rejects->text, "unix:\"../odd ;name\"");
    assert_string_equal(rejects->path, "/home/ann/conf/../odd ;name");
    assert_int_equal(c->output[OUTPUT_REJECTS].dead_after_ms, 300000);
    assert_int_equal(c->http.family, FAMILY_UNIX);
    assert_int_equal(c->http.mode, 0660);
    assert_int_equal(c->http.allow_count, 0); /* who may is a matter of the mode */
    config_free(c);
}

static void records_are_cut_and_unwrapped_as_is_said(void **state)
{
    static const struct config_override lines[] = {
        {"left.framing="}, {"right.framing="}, {"right.envelope="}};
    struct config *c = read_sockets(NULL, 0);
    struct config *plain = read_sockets(lines, COUNT_OF(lines));

    (void)state;
    assert_int_equal(c->input[SIDE_LEFT].format.framing, FRAMING_OCTET);
    assert_int_equal(c->input[SIDE_LEFT].format.envelope, ENVELOPE_NONE);
    assert_int_equal(c->input[SIDE_RIGHT].format.framing, FRAMING_AUTO);
    assert_int_equal(c->input[SIDE_RIGHT].format.envelope, ENVELOPE_SYSLOG);
    for (int s = 0; s < SIDES; s++) {
        assert_int_equal(plain->input[s].format.framing, FRAMING_LINE);
        assert_int_equal(plain->input[s].format.envelope, ENVELOPE_NONE);
    }
    config_free(c);
    config_free(plain);
}

/* A file's lines go on within quotes, unless each is a message. */
static void a_file_of_messages_has_no_lines_that_go_on(void **state)
{
    static const struct config_override overrides[] = {
        {"right.connect="}, {"right.file=messages"}, {"right.framing="}};
    struct config *c = read_sockets(overrides, COUNT_OF(overrides));

    (void)state;
    assert_false(c->input[SIDE_RIGHT].format.multiline);
    assert_int_equal(c->input[SIDE_RIGHT].format.envelope, ENVELOPE_SYSLOG);
    config_free(c);
}

static void an_end_of_one_kind_takes_the_place_of_another_s(void **state)
{
    static const struct config_override overrides[] = {
        {"left.listen="},   {"left.connect=unix:x"},        {"left.mode="},
        {"right.connect="}, {"right.listen=systemd:right"}, {"rejects.connect="},
    };
    struct config *c = read_sockets(overrides, COUNT_OF(overrides));

    (void)state;
    assert_int_equal(c->input[SIDE_LEFT].endpoint.kind, ENDPOINT_CONNECT);
    assert_string_equal(c->input[SIDE_LEFT].endpoint.path, "/home/ann/x");
    assert_int_equal(c->input[SIDE_RIGHT].endpoint.kind, ENDPOINT_LISTEN);
    assert_string_equal(c->input[SIDE_RIGHT].endpoint.passed_name, "right");
    assert_int_equal(c->output[OUTPUT_REJECTS].endpoint.kind, ENDPOINT_NONE);
    config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_say_which),
        cmocka_unit_test(records_are_cut_and_unwrapped_as_is_said),
        cmocka_unit_test(a_file_of_messages_has_no_lines_that_go_on),
        cmocka_unit_test(an_end_of_one_kind_takes_the_place_of_another_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
