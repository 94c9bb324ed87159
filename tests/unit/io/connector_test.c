#include "unit.h"

#include <stdbool.h>

#include "io/clock.h"
#include "io/connector.h"

/* Only what connector_trouble() looks at. */
static struct connector connector(enum connector_step step, int64_t for_ms, const char *trouble)
{
    static const struct endpoint endpoint = {.text = (char *)"db.test:9000"};
    struct connector c = {
        .endpoint = &endpoint,
        .section = "output",
        .step = step,
        .since_ms = clock_mono().ms - for_ms,
    };

    strcpy(c.trouble, trouble);
    return c;
}

static void a_minute_without_a_connection_is_trouble(void **state)
{
    static const struct {
        const char *row;
        enum connector_step step;
        int64_t for_ms;
        bool trouble;
    } rows[] = {
        {"connected for an hour", CONNECTOR_CONNECTED, 3600000, false},
        {"not started", CONNECTOR_STOPPED, 3600000, false},
        {"just gone", CONNECTOR_RESTING, 0, false},
        {"not yet a minute", CONNECTOR_RESTING, CONNECTOR_TROUBLE_MS - 5000, false},
        {"a minute", CONNECTOR_RESTING, CONNECTOR_TROUBLE_MS, true},
        {"its address is asked for", CONNECTOR_RESOLVING, CONNECTOR_TROUBLE_MS, true},
        {"the next attempt is under way", CONNECTOR_CONNECTING, CONNECTOR_TROUBLE_MS, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct connector c = connector(rows[i].step, rows[i].for_ms, "Connection refused");
        struct buf reason = BUF_EMPTY;
        assert_row(connector_trouble(&c, &reason) == rows[i].trouble, rows[i].row);
        assert_row((buf_length(&reason) > 0) == rows[i].trouble, rows[i].row);
        buf_done(&reason);
    }
}

static void the_reason_says_who_since_when_and_why(void **state)
{
    struct connector c = connector(CONNECTOR_RESTING, 75000, "Connection refused");
    struct buf reason = BUF_EMPTY;

    (void)state;
    assert_true(connector_trouble(&c, &reason));
    assert_string_equal(buf_text(&reason),
                        "output: not connected to db.test:9000 for 75 s: Connection refused");
    buf_done(&reason);
}

static void what_was_never_started_can_be_stopped(void **state)
{
    struct connector c = {.step = CONNECTOR_STOPPED};

    (void)state;
    connector_stop(&c);
    assert_false(connector_is_connected(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minute_without_a_connection_is_trouble),
        cmocka_unit_test(the_reason_says_who_since_when_and_why),
        cmocka_unit_test(what_was_never_started_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
