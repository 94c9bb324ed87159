#include "unit.h"

#include "codec/envelope.h"

struct example {
    const char *line;
    const char *message;
};

/* Memory ends with the line, so that a look behind it is seen. */
static const char *open_line(const char *text, size_t n, char *ret_message)
{
    char *line = test_malloc(n + 1);
    struct bytes message = {NULL, 0};
    const char *fault;

    memcpy(line + 1, text, n);
    fault = envelope_open((struct bytes){line + 1, n}, &message);
    if (fault == NULL) {
        memcpy(ret_message, message.p, message.n);
        ret_message[message.n] = '\0';
        assert_ptr_equal(message.p + message.n, line + 1 + n);
        assert_true(envelope_begins((struct bytes){line + 1, n}));
    }
    test_free(line);
    return fault;
}

static void check(const struct example *examples, size_t count)
{
    char message[500];

    for (size_t i = 0; i < count; i++) {
        const char *line = examples[i].line;
        const char *fault = open_line(line, strlen(line), message);

        assert_row(fault == NULL, line);
        if (strcmp(message, examples[i].message) != 0)
            fail_msg("of \"%s\" the message is \"%s\"", line, message);
    }
}

static void check_faults(const struct example *examples, size_t count)
{
    char message[500];

    for (size_t i = 0; i < count; i++) {
        const char *line = examples[i].line;
        const char *fault = open_line(line, strlen(line), message);

        assert_row(fault != NULL && strstr(fault, examples[i].message) != NULL, line);
    }
}

#define T5424 "2026-11-29T17:41:27.123456+01:00"

static void a_header_of_rfc_5424_is_taken_off(void **state)
{
    static const struct example examples[] = {
        {"<13>1 " T5424 " host app 123 id - a,b", "a,b"},
        {"<13>1 2026-11-29T17:41:27Z host app 123 id - a,b", "a,b"},
        {"<13>1 2026-11-29T17:41:27-00:30 host app 123 id - a,b", "a,b"},
        {"<0>1 - - - - - - a,b", "a,b"},
        {"<191>1 - - - - - - a,b", "a,b"},
        {"<013>1 - - - - - - a,b", "a,b"},
        {"<13>999 - - - - - - a,b", "a,b"},
        {"<13>1 - - - - - -  a,b ", " a,b "}, /* only of RFC 3164 one more space is taken */
        {"<13>1 - - - - - - [x] a", "[x] a"},
        {"<13>1 - - - - - - tag: a", "tag: a"},
        {"<13>1 - - - - - - - a", "- a"},
        {"<13>1 - h\xc3\xb6st fe80::1 [1] x:y - a\nb", "a\nb"},
        /* rsyslog's %msg% has a space at its start, so its RSYSLOG_SyslogProtocol23Format two */
        {"<13>1 " T5424 " host app - - -  a", " a"},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
}

static void structured_data_ends_where_its_last_bracket_does(void **state)
{
    static const struct example examples[] = {
        {"<13>1 - - - - - [a] m", "m"},
        {"<13>1 - - - - - [a][b] m", "m"},
        {"<13>1 - - - - - [a x=\"1\"] m", "m"},
        {"<13>1 - - - - - [a x=\"1\" y=\"2\"][b@32473 z=\"\"] m", "m"},
        {"<13>1 - - - - - [timeQuality tzKnown=\"1\" isSynced=\"0\"] m", "m"},
        {"<13>1 - - - - - [a x=\"\\\"] m\"] n", "n"},
        {"<13>1 - - - - - [a x=\"\\\\\"] m", "m"},
        {"<13>1 - - - - - [a x=\"\\]\"] m", "m"},
        {"<13>1 - - - - - [a x=\"]\"] m", "m"},
        {"<13>1 - - - - - [a x=\"] m [b y=\\\"z\\\"\"] n", "n"},
        {"<13>1 - - - - - [a x=\"\\n\"] m", "m"},
        {"<13>1 - - - - - [a x=\"\xc3\xa4 =\"] m", "m"},
        {"<13>1 - - - - - [a] [b] m", "[b] m"},
    };
    static const struct example faults[] = {
        {"<13>1 - - - - - m", "structured data"},
        {"<13>1 - - - - - [] m", "structured data"},
        {"<13>1 - - - - - [a", "structured data"},
        {"<13>1 - - - - - [a x] m", "structured data"},
        {"<13>1 - - - - - [a x=1] m", "structured"},
        {"<13>1 - - - - - [a x=\"1] m", "structured"},
        {"<13>1 - - - - - [a x=\"1\\", "structured"},
        {"<13>1 - - - - - [a x=\"1\\\"] m", "structured"},
        {"<13>1 - - - - - [a  x=\"1\"] m", "structured"},
        {"<13>1 - - - - - [a x=\"1\" ] m", "structured"},
        {"<13>1 - - - - - [a x=\"1\"y=\"2\"] m", "structured"},
        {"<13>1 - - - - - [a]m", "structured data"},
        {"<13>1 - - - - - -m", "structured data"},
        {"<13>1 - - - - - [a=b] m", "structured data"},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
    check_faults(faults, COUNT_OF(faults));
}

static void a_byte_order_mark_before_a_message_of_rfc_5424_is_none_of_it(void **state)
{
    static const struct example examples[] = {
        {"<13>1 - - - - - - \xEF\xBB\xBF"
         "a",
         "a"},
        {"<13>1 - - - - - [x] \xEF\xBB\xBF", ""},
        {"<13>1 - - - - - - \xEF\xBB\xBF\xEF\xBB\xBF"
         "a",
         "\xEF\xBB\xBF"
         "a"},
        {"<13>1 - - - - - - \xEF\xBB"
         "a",
         "\xEF\xBB"
         "a"},
        {"<13>1 - - - - - - a\xEF\xBB\xBF", "a\xEF\xBB\xBF"},
        {"<13>Nov 29 17:41:27 h t: \xEF\xBB\xBF"
         "a",
         "\xEF\xBB\xBF"
         "a"},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
}

static void what_rfc_3164_senders_really_send_is_taken_off(void **state)
{
    static const struct example examples[] = {
        {"<13>Nov 29 17:41:27 host tag: text", "text"},
        {"<13>Nov 29 17:41:27 host tag[123]: text", "text"},
        {"<13>Nov  9 17:41:27 host tag: text", "text"},
        {"<13>Nov 9 17:41:27 host tag: text", "text"},
        {"<13>Nov 09 17:41:27 host tag: text", "text"},
        {"<13>Nov 29 17:41:27.123 host tag: text", "text"},
        {"<13>" T5424 " host tag: text", "text"},
        {"<13>2026-11-29T17:41:27Z host tag[1]: text", "text"},
        {"<13>Nov 29 17:41:27 tag: text", "text"},
        {"<13>Nov 29 17:41:27 tag[123]: text", "text"},
        {"<13>" T5424 " tag: text", "text"},
        {"<13>Nov 29 17:41:27 host su(pam_unix)[9]: text", "text"},
        {"<13>Nov 29 17:41:27 host postfix/smtpd[9]: text", "text"},
        {"<13>Nov 29 17:41:27 host %ASA-6-302013: text", "text"},
        {"<13>Nov 29 17:41:27 host my-app_1.2[x-y]: text", "text"},
        {"<13>Nov 29 17:41:27 host 123: text", "text"},
        {"<13>Nov 29 17:41:27 host tag[123] text", "text"},
        {"<13>Nov 29 17:41:27 host tag:text", "text"},
        {"<13>Nov 29 17:41:27 host tag:{\"a\":1}", "{\"a\":1}"},
        {"<13>Nov 29 17:41:27 host tag[1]:text", "text"},
        {"<13>Nov 29 17:41:27 host 12[3]:text", "text"},
        {"<13>Nov 29 17:41:27 192.0.2.1 tag: text", "text"},
        {"<13>Nov 29 17:41:27 fe80::1 tag: text", "text"},
        {"<13>Nov 29 17:41:27 2001:db8:: tag: text", "text"},
        {"<13>Nov 29 17:41:27 s_net@a/b tag: text", "text"},
        {"<34>Oct 11 22:14:15 mymachine su: 'su root' failed", "'su root' failed"},
        /* cut by rsyslog's own template: %syslogtag:1:32% */
        {"<13>Nov 29 17:41:27 host systemd-networkd-wait-online-abc text", "text"},
        {"<13>Nov 29 17:41:27 host systemd-networkd-wait-onlin[1234 text", "text"},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
}

static void exactly_one_space_behind_a_tag_is_taken(void **state)
{
    static const struct example examples[] = {
        {"<13>Nov 29 17:41:27 host tag:  text ", " text "},
        {"<13>Nov 29 17:41:27 tag:  text", " text"},
        {"<13>Nov 29 17:41:27 host tag[1]:   text", "  text"},
        {"<13>Nov 29 17:41:27 host tag: \ttext", "\ttext"},
        {"<13>Nov 29 17:41:27 host tag: other: text", "other: text"},
        {"<13>Nov 29 17:41:27 host tag: [1] text", "[1] text"},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
}

/* Templates without %syslogtag%, or without %HOSTNAME% too. */
static void records_that_look_like_no_host_and_no_tag_are_none(void **state)
{
    static const struct example examples[] = {
        {"<13>Nov 29 17:41:27 host a,b", "a,b"},
        {"<13>Nov 29 17:41:27 host  a,b", "a,b"},
        {"<13>Nov 29 17:41:27 host {\"a\":1}", "{\"a\":1}"},
        {"<13>Nov 29 17:41:27 host {\"a\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}"},
        {"<13>Nov 29 17:41:27 host \"a: b\",c", "\"a: b\",c"},
        {"<13>Nov 29 17:41:27 host 12:30:00,x", "12:30:00,x"},
        {"<13>Nov 29 17:41:27 host 12:30:00 x", "12:30:00 x"},
        {"<13>Nov 29 17:41:27 host a b", "a b"},
        {"<13>Nov 29 17:41:27 host a;b:c", "a;b:c"},
        {"<13>Nov 29 17:41:27 host [1]: x", "[1]: x"},
        {"<13>Nov 29 17:41:27 host a[]: x", "a[]: x"},
        {"<13>Nov 29 17:41:27 host a[1 2]: x", "a[1 2]: x"},
        {"<13>Nov 29 17:41:27 {\"a\": 1}", "{\"a\": 1}"},
        {"<13>Nov 29 17:41:27 a,b c", "a,b c"},
        {"<13>Nov 29 17:41:27 [1]: x", "[1]: x"},
        {"<13>Nov 29 17:41:27 a[1] x", "a[1] x"},
        {"<13>Nov 29 17:41:27 host a[1]b x", "a[1]b x"},
        {"<13>Nov 29 17:41:27 host 1-2.3_4/5:x", "1-2.3_4/5:x"},
        {"<13>Nov 29 17:41:27 host 0123456789abcdef0123456789abcdef",
         "0123456789abcdef0123456789abcdef"},
        {"<13>Nov 29 17:41:27 host 0123456789abcdef0123456789abcdef,x",
         "0123456789abcdef0123456789abcdef,x"},
        {"<13>Nov 29 17:41:27 alone", "alone"},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
}

static void a_message_may_be_empty(void **state)
{
    static const struct example examples[] = {
        {"<13>1 - - - - - -", ""},
        {"<13>1 - - - - - - ", ""},
        {"<13>1 - - - - - [a]", ""},
        {"<13>Nov 29 17:41:27 host tag:", ""},
        {"<13>Nov 29 17:41:27 host tag: ", ""},
        {"<13>Nov 29 17:41:27 tag:", ""},
        {"<13>Nov 29 17:41:27 host tag[1]", ""},
        {"<13>Nov 29 17:41:27 host ", ""},
        {"<13>Nov 29 17:41:27 ", ""},
    };

    (void)state;
    check(examples, COUNT_OF(examples));
}

static void without_a_header_there_is_no_message(void **state)
{
    static const struct example examples[] = {
        {"", "priority"},
        {"a,b", "priority"},
        {"<", "priority"},
        {"<>1 - - - - - - a", "priority"},
        {"<13", "priority"},
        {"<192>1 - - - - - - a", "priority"},
        {"<999>1 - - - - - - a", "priority"},
        {"<0013>1 - - - - - - a", "priority"},
        {"<-1>1 - - - - - - a", "priority"},
        {"<1 >1 - - - - - - a", "priority"},
        {" <13>1 - - - - - - a", "priority"},
        {"<13>", "neither"},
        {"<13>text", "neither"},
        {"<13>tag: text", "neither"},
        {"<13>0 - - - - - - a", "neither"},
        {"<13>1000 - - - - - - a", "neither"},
        {"<13>1\t- - - - - - a", "neither"},
        {"<13>nov 29 17:41:27 h t: a", "neither"},
        {"<13>Nov 29 17:41 h t: a", "neither"},
        {"<13>Nov 123 17:41:27 h t: a", "neither"},
        {"<13>Nov 29 17:41:27", "neither"},
        {"<13>Nov 29 17:41:27. h t: a", "neither"},
        {"<13>Nov 29 17:41:27,h t: a", "neither"},
        {"<13>No", "neither"},
        {"<13>2026-11-29T17:41:27 h t: a", "neither"},
        {"<13>2026-11-29 17:41:27Z h t: a", "neither"},
        {"<13>2026-11-29T17:41:27+01 h t: a", "neither"},
        {"<13>1 ", "time"},
        {"<13>1 a", "time"},
        {"<13>1 Nov 29 17:41:27 h t: a", "time"},
        {"<13>1 2026-11-29T17:41:27 h a p m - x", "time"},
        {"<13>1 -", "time"},
        {"<13>1 - ", "host"},
        {"<13>1 -  h a p m - x", "host"},
        {"<13>1 - h", "host"},
        {"<13>1 - h ", "name"},
        {"<13>1 - h a ", "process"},
        {"<13>1 - h a p ", "message id"},
        {"<13>1 - h a p m", "message id"},
        {"<13>1 - h a p m ", "structured data"},
        {"<13>1 - h\x01 a p m - x", "host"},
        {"<13>1 - h\xff a p m - x", "host"},
        {"<13>1 - h\x7f a p m - x", "host"},
        {"<13>1 - h\n a p m - x", "host"},
    };

    (void)state;
    check_faults(examples, COUNT_OF(examples));
}

/* Any start of a line is read without a look behind its end. */
static void no_start_of_a_header_is_read_too_far(void **state)
{
    static const char *const lines[] = {
        "<13>1 " T5424 " host app 123 id [a x=\"\\\"\\]\"][b] \xEF\xBB\xBFmessage",
        "<191>Nov 29 17:41:27.5 host tag[123]: message",
        "<191>" T5424 " tag[123]: message",
    };
    char message[500];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        size_t n = strlen(lines[i]);

        for (size_t k = 0; k < n; k++)
            open_line(lines[i], k, message);
        assert_null(open_line(lines[i], n, message));
        assert_string_equal(message, "message");
    }
}

static void the_start_of_a_header_is_enough_to_know_one(void **state)
{
    static const char *const starts[] = {"<13>1 ", "<13>1 x", "<13>Nov 29 17:41:27",
                                         "<13>2026-11-29T17:41:27Z"};
    static const char *const others[] = {"",       "<13>",    "<13>1",      "<13>x", "<13>1,a",
                                         "13>1 -", "<192>1 ", "<13>Nov 29", "<a>1 "};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        assert_row(envelope_begins(bytes_of(starts[i])), starts[i]);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_row(!envelope_begins(bytes_of(others[i])), others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_of_rfc_5424_is_taken_off),
        cmocka_unit_test(structured_data_ends_where_its_last_bracket_does),
        cmocka_unit_test(a_byte_order_mark_before_a_message_of_rfc_5424_is_none_of_it),
        cmocka_unit_test(what_rfc_3164_senders_really_send_is_taken_off),
        cmocka_unit_test(exactly_one_space_behind_a_tag_is_taken),
        cmocka_unit_test(records_that_look_like_no_host_and_no_tag_are_none),
        cmocka_unit_test(a_message_may_be_empty),
        cmocka_unit_test(without_a_header_there_is_no_message),
        cmocka_unit_test(no_start_of_a_header_is_read_too_far),
        cmocka_unit_test(the_start_of_a_header_is_enough_to_know_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
