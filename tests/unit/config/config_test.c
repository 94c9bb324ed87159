/* What a configuration becomes for those who run it: the plan, the formats, the ends. */
#include "unit.h"

#include "base/mem.h"
#include "config/reader.h"

static const char text[] =
    "[left]\n"
    "name = orders\n"
    "listen = [::1]:8000\n"
    "fields = id bigint, price double, at timestamp_s, paid boolean\n"
    "header = yes\n"
    "delimiter = tab\n"
    "null = NULL\n"
    "key = id, price, at, id\n"
    "where = paid\n"
    "allow = 10.0.0.0/8\n"
    "max_connections = 7\n"
    "keepalive = 10s\n"
    "[right]\n"
    "file = data/../x.csv\n"
    "fields = a bigint, b bigint, c timestamp_s, d timestamp_ms, ok boolean\n"
    "key = a, b, c, d\n"
    "max_line = 1K\n"
    "[join]\n"
    "type = full\n"
    "size = 10s\n"
    "offset = -1s\n"
    "on = ok\n"
    "[output]\n"
    "file = -\n"
    "format = json\n"
    "select = id, shipped.b as id2, paid\n"
    "[rejects]\n"
    "listen = localhost:0\n"
    "buffer = 64K\n"
    "dead_after = off\n"
    "[state]\n"
    "memory = 8M\n"
    "[process]\n"
    "hash_seed = 42\n";

static struct config *read_with(struct bytes given, const struct config_override *overrides,
                                size_t count, struct diag *diag)
{
    struct config_source source = {
        .path = "conf/orders.ini",
        .text = given,
        .current_directory = "/home/ann",
        .overrides = overrides,
        .override_count = count,
    };

    diag_init(diag);
    return config_read(&source, diag);
}

static struct config *read_text(void)
{
    static const struct config_override overrides[] = {{"right.name=shipped"}};
    struct diag diag;
    struct config *c = read_with(BYTES_LIT(text), overrides, 1, &diag);

    for (size_t i = 0; i < diag.count; i++)
        print_error("%s\n", diag.messages[i].text);
    assert_non_null(c);
    diag_done(&diag);
    return c;
}

static void the_plan_says_what_the_text_says(void **state)
{
    struct config *c = read_text();
    const struct plan *p = c->plan;
    const struct plan_side *left = &p->side[SIDE_LEFT];

    (void)state;
    assert_string_equal(c->name, "orders");
    assert_string_equal(c->path, "conf/orders.ini");
    assert_int_equal(p->type, JOIN_FULL);
    assert_int_equal(p->match, MATCH_TUMBLING);
    assert_int_equal(p->time, TIME_PROCESSING);
    assert_int_equal(p->size_ms, 10000);
    assert_int_equal(p->offset_ms, -1000);
    assert_int_equal(p->on->side, SIDE_RIGHT);
    assert_int_equal(p->on->field, 4);
    assert_int_equal(p->state_bytes_max, 8 << 20);
    assert_string_equal(left->schema.name, "orders");
    assert_int_equal(left->schema.count, 4);
    assert_int_equal(left->schema.fields[2].type, TYPE_TIMESTAMP_S);
    assert_int_equal(left->where->field, 3);
    assert_null(p->side[SIDE_RIGHT].where);
    config_free(c);
}

/* 0 and -0, 1 and 1.0 are equal numbers and other texts. */
static void keys_are_doubles_where_one_of_them_is(void **state)
{
    static const bool expected[] = {false, true, true, false};
    struct config *c = read_text();

    (void)state;
    for (int s = 0; s < SIDES; s++) {
        assert_int_equal(c->plan->side[s].key.count, 4);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(c->plan->side[s].key_as_double[i], expected[i]);
    }
    config_free(c);
}

static void formats_know_their_side(void **state)
{
    struct config *c = read_text();
    const struct input_format *left = &c->input[SIDE_LEFT].format;
    const struct input_format *right = &c->input[SIDE_RIGHT].format;
    const struct record_form *form = &c->plan->side[SIDE_LEFT].form;

    (void)state;
    assert_ptr_equal(left->schema, &c->plan->side[SIDE_LEFT].schema);
    assert_int_equal(left->delimiter, '\t');
    assert_true(left->header);
    assert_false(left->multiline);
    assert_int_equal(left->max_line, 65536);
    assert_true(bytes_equal(left->null_text, BYTES_LIT("NULL")));
    assert_int_equal(form->field_count, 4);
    assert_int_equal(form->delimiter, '\t');
    assert_true(bytes_equal(form->null_text, BYTES_LIT("NULL")));
    assert_ptr_not_equal(form->null_text.p, left->null_text.p);
    assert_true(right->multiline); /* a file */
    assert_int_equal(right->max_line, 1024);
    assert_non_null(right->null_text.p);
    assert_int_equal(right->null_text.n, 0);
    config_free(c);
}

static void ends_say_where(void **state)
{
    struct config *c = read_text();
    const struct endpoint *left = &c->input[SIDE_LEFT].endpoint;
    const struct endpoint *right = &c->input[SIDE_RIGHT].endpoint;
    const struct output_config *rejects = &c->output[OUTPUT_REJECTS];

    (void)state;
    assert_int_equal(left->kind, ENDPOINT_LISTEN);
    assert_string_equal(left->text, "[::1]:8000");
    assert_string_equal(left->host, "::1");
    assert_string_equal(left->port, "8000");
    assert_int_equal(left->allow_count, 1);
    assert_int_equal(left->max_connections, 7);
    assert_int_equal(left->keepalive_ms, 10000);
    assert_int_equal(right->kind, ENDPOINT_FILE);
    assert_string_equal(right->text, "data/../x.csv");
    assert_string_equal(right->path, "/home/ann/conf/data/../x.csv");
    assert_int_equal(c->output[OUTPUT_RESULTS].endpoint.kind, ENDPOINT_STANDARD);
    assert_string_equal(c->output[OUTPUT_RESULTS].endpoint.text, "-");
    assert_int_equal(c->output[OUTPUT_LATE].endpoint.kind, ENDPOINT_NONE);
    assert_int_equal(c->http.kind, ENDPOINT_NONE);
    assert_int_equal(rejects->absent, ABSENT_DISCARD);
    assert_int_equal(rejects->slow, SLOW_DISCARD);
    assert_int_equal(rejects->buffer_bytes, 65536);
    assert_int_equal(rejects->dead_after_ms, 0);
    config_free(c);
}

static void columns_are_bound_and_named(void **state)
{
    static const char *const names[] = {"id", "id2", "paid"};
    struct config *c = read_text();
    const struct expr_list *select = &c->output[OUTPUT_RESULTS].format.select;

    (void)state;
    assert_int_equal(select->count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(select->items[i].name, names[i]);
    assert_int_equal(select->items[1].expr->side, SIDE_RIGHT);
    assert_int_equal(select->items[1].expr->field, 1);
    assert_int_equal(select->items[1].expr->type, TYPE_BIGINT);
    config_free(c);
}

static void relative_paths_of_set_start_at_the_current_folder(void **state)
{
    static const struct config_override overrides[] = {
        {"right.name=shipped"}, {"right.file=./old.csv"}, {"process.hash_seed="},
        {"left.name="},         {"left.file="},
    };
    struct diag diag;
    struct config *c = read_with(BYTES_LIT(text), overrides, COUNT_OF(overrides), &diag);

    (void)state;
    assert_non_null(c);
    assert_string_equal(c->input[SIDE_RIGHT].endpoint.path, "/home/ann/old.csv");
    assert_string_equal(c->input[SIDE_RIGHT].endpoint.text, "./old.csv");
    assert_string_equal(c->plan->side[SIDE_LEFT].schema.name, "left");
    assert_true(c->hash_seed_random);
    config_free(c);
    diag_done(&diag);
}

static void a_number_as_seed_is_no_random_one(void **state)
{
    struct config *c = read_text();

    (void)state;
    assert_false(c->hash_seed_random);
    assert_int_equal(c->plan->hash_seed, 42);
    config_free(c);
}

static void another_text_is_noticed(void **state)
{
    struct config *c = read_text();

    (void)state;
    assert_false(config_text_differs(c, BYTES_LIT(text)));
    assert_true(config_text_differs(c, BYTES_LIT("[left]\n")));
    assert_true(config_text_differs(c, (struct bytes){text, sizeof(text) - 2}));
    config_free(c);
}

static void faults_come_in_the_order_of_the_file(void **state)
{
    static const char wrong[] = "[output]\nlisten = x\n[join]\nsize = 0s\n[left]\nkey = a\nx = 1\n";
    static const struct config_override overrides[] = {{"join.type=x"}};
    struct diag diag;
    int line = 0;

    (void)state;
    assert_null(read_with(BYTES_LIT(wrong), overrides, 1, &diag));
    assert_true(diag.count > 5);
    for (size_t i = 0; i < diag.count; i++) {
        int next = diag.messages[i].line > 0 ? diag.messages[i].line : 99;
        assert_true(next >= line);
        line = next;
    }
    diag_done(&diag);
}

/* --- event time --- */

static const char event_text[] = "[left]\n"
                                 "listen = h:1\n"
                                 "fields = k, at timestamp\n"
                                 "key = k\n"
                                 "timestamp = at\n"
                                 "delay = 5s\n"
                                 "[right]\n"
                                 "file = right.csv\n"
                                 "fields = k, t timestamp_ns\n"
                                 "key = k\n"
                                 "timestamp = right.t\n"
                                 "idle = off\n"
                                 "[join]\n"
                                 "time = event\n"
                                 "size = 10s\n"
                                 "grace = 2s\n"
                                 "[output]\n"
                                 "file = -\n"
                                 "select = left.k, at\n"
                                 "[late]\n"
                                 "listen = h:2\n";

/* `overrides` ends with NULL. */
static struct config *read_event_text(const char *const *overrides)
{
    struct config_override given[10];
    size_t count = 0;
    struct diag diag;
    struct config *c;

    for (; overrides[count] != NULL; count++) {
        assert_true(count < COUNT_OF(given));
        given[count].text = overrides[count];
    }
    c = read_with(BYTES_LIT(event_text), given, count, &diag);
    for (size_t i = 0; i < diag.count; i++)
        print_error("%s\n", diag.messages[i].text);
    assert_non_null(c);
    diag_done(&diag);
    return c;
}
#define EVENT_CONFIG(...) read_event_text((const char *const[]){__VA_ARGS__, NULL})

static void event_time_is_said_for_each_side(void **state)
{
    struct config *c = EVENT_CONFIG(NULL);
    const struct plan_side *left = &c->plan->side[SIDE_LEFT], *right = &c->plan->side[SIDE_RIGHT];

    (void)state;
    assert_int_equal(c->plan->time, TIME_EVENT);
    assert_int_equal(c->plan->grace_ms, 2000);
    assert_int_equal(left->timestamp->side, SIDE_LEFT);
    assert_int_equal(left->timestamp->type, TYPE_TIMESTAMP);
    assert_int_equal(left->delay_ms, 5000);
    assert_int_equal(left->idle_ms, 120000);
    assert_int_equal(left->max_ahead_ms, 3600000);
    assert_int_equal(right->timestamp->side, SIDE_RIGHT);
    assert_int_equal(right->timestamp->field, 1);
    assert_int_equal(right->timestamp->type, TYPE_TIMESTAMP_NS);
    assert_int_equal(right->delay_ms, 0);
    assert_int_equal(right->idle_ms, PLAN_OFF);
    assert_int_equal(right->max_ahead_ms, PLAN_OFF); /* a file */
    config_free(c);
}

static void decoders_tell_times_that_are_a_field_as_it_stands(void **state)
{
    struct config *c = EVENT_CONFIG("right.timestamp=coalesce(t, t)");

    (void)state;
    assert_true(c->input[SIDE_LEFT].format.timed);
    assert_int_equal(c->input[SIDE_LEFT].format.time_field, 1);
    assert_false(c->input[SIDE_RIGHT].format.timed);
    config_free(c);
    c = EVENT_CONFIG(NULL);
    assert_true(c->input[SIDE_RIGHT].format.timed);
    assert_int_equal(c->input[SIDE_RIGHT].format.time_field, 1);
    config_free(c);
    c = EVENT_CONFIG("join.time=processing", "join.grace=", "left.timestamp=", "left.delay=",
                     "left.idle=", "right.timestamp=", "right.idle=", "late.listen=");
    assert_false(c->input[SIDE_LEFT].format.timed);
    config_free(c);
}

static void late_records_go_where_rejects_could(void **state)
{
    struct config *c = EVENT_CONFIG(NULL);
    const struct output_config *late = &c->output[OUTPUT_LATE];

    (void)state;
    assert_int_equal(late->endpoint.kind, ENDPOINT_LISTEN);
    assert_string_equal(late->endpoint.port, "2");
    assert_int_equal(late->absent, ABSENT_DISCARD);
    assert_int_equal(late->slow, SLOW_DISCARD);
    config_free(c);
}

/* Tumbling windows are sliding ones that do not overlap. */
static void each_match_has_its_durations(void **state)
{
    struct config *tumbling = EVENT_CONFIG(NULL);
    struct config *sliding = EVENT_CONFIG("join.match=sliding", "join.slide=3s");
    struct config *session = EVENT_CONFIG("join.match=session", "join.size=", "join.gap=1m");
    struct config *interval =
        EVENT_CONFIG("join.match=interval", "join.size=", "join.lower=-1s", "join.upper=2s");

    (void)state;
    assert_int_equal(tumbling->plan->slide_ms, 10000);
    assert_int_equal(sliding->plan->match, MATCH_SLIDING);
    assert_int_equal(sliding->plan->size_ms, 10000);
    assert_int_equal(sliding->plan->slide_ms, 3000);
    assert_int_equal(session->plan->match, MATCH_SESSION);
    assert_int_equal(session->plan->gap_ms, 60000);
    assert_int_equal(interval->plan->match, MATCH_INTERVAL);
    assert_int_equal(interval->plan->lower_ms, -1000);
    assert_int_equal(interval->plan->upper_ms, 2000);
    config_free(tumbling);
    config_free(sliding);
    config_free(session);
    config_free(interval);
}

static const char table_text[] = "[left]\n"
                                 "listen = h:1\n"
                                 "fields = k, v\n"
                                 "[right]\n"
                                 "file = table.csv\n"
                                 "fields = k, v\n"
                                 "[join]\n"
                                 "match = latest\n"
                                 "[output]\n"
                                 "file = -\n";

static struct config *read_table_text(const char *first, const char *second)
{
    struct config_override given[] = {{first}, {second}};
    struct diag diag;
    struct config *c = read_with(BYTES_LIT(table_text), given, COUNT_OF(given), &diag);

    for (size_t i = 0; i < diag.count; i++)
        print_error("%s\n", diag.messages[i].text);
    assert_non_null(c);
    diag_done(&diag);
    return c;
}

static void a_left_record_waits_as_long_as_is_said(void **state)
{
    static const struct {
        const char *wait, *ttl;
        int64_t wait_ms, ttl_ms;
    } rows[] = {
        {"join.wait=", "join.ttl=", 0, PLAN_OFF},
        {"join.wait=0s", "join.ttl=off", 0, PLAN_OFF},
        {"join.wait=1m30s", "join.ttl=1h", 90000, 3600000},
        {"join.wait=forever", "join.ttl=0s", PLAN_FOREVER, 0},
        {"join.wait=36500d", "join.ttl=36500d", INT64_C(3153600000000), INT64_C(3153600000000)},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct config *c = read_table_text(rows[i].wait, rows[i].ttl);
        assert_int_equal(c->plan->match, MATCH_LATEST);
        assert_int_equal(c->plan->wait_ms, rows[i].wait_ms);
        assert_int_equal(c->plan->ttl_ms, rows[i].ttl_ms);
        config_free(c);
    }
}

static void a_table_says_what_several_rows_of_a_key_mean(void **state)
{
    static const struct {
        const char *text;
        enum duplicates duplicates;
    } rows[] = {
        {"right.duplicates=", DUPLICATES_KEEP},
        {"right.duplicates=keep", DUPLICATES_KEEP},
        {"right.duplicates=last", DUPLICATES_LAST},
        {"right.duplicates=error", DUPLICATES_ERROR},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct config *c = read_table_text("join.match=lookup", rows[i].text);
        assert_int_equal(c->plan->match, MATCH_LOOKUP);
        assert_int_equal(c->plan->duplicates, rows[i].duplicates);
        assert_int_equal(c->plan->time, TIME_PROCESSING); /* it knows none */
        config_free(c);
    }
}

/* Only windows and intervals are: semantics.md section 5. */
static void a_table_is_never_a_replay(void **state)
{
    struct config *batch = read_table_text("join.match=batch", "join.type=full");
    struct config *latest = EVENT_CONFIG("left.listen=", "left.file=l", "join.match=latest",
                                         "join.size=", "join.grace=");

    (void)state;
    assert_int_equal(batch->plan->match, MATCH_BATCH);
    assert_int_equal(batch->plan->type, JOIN_FULL);
    assert_false(batch->plan->replay);
    assert_int_equal(latest->plan->time, TIME_EVENT);
    assert_false(latest->plan->replay);
    config_free(batch);
    config_free(latest);
}

static void two_files_in_event_time_are_a_replay(void **state)
{
    struct config *one_file = EVENT_CONFIG(NULL);
    struct config *files = EVENT_CONFIG("left.listen=", "left.file=left.csv");
    struct config *standard = EVENT_CONFIG("left.listen=", "left.file=-");
    struct config *processing =
        EVENT_CONFIG("left.listen=", "left.file=l", "join.time=", "left.timestamp=", "left.delay=",
                     "right.timestamp=", "right.idle=", "join.grace=", "late.listen=");

    (void)state;
    assert_false(one_file->plan->replay);
    assert_true(files->plan->replay);
    assert_true(standard->plan->replay);
    assert_false(processing->plan->replay);
    config_free(one_file);
    config_free(files);
    config_free(standard);
    config_free(processing);
}

/* Records need not carry them otherwise. */
static void times_are_kept_where_a_column_asks_for_them(void **state)
{
    static const struct {
        const char *select;
        bool kept;
    } rows[] = {
        {"output.select=left.k, at", false},
        {"output.select=left.k, window_start, window_end", false},
        {"output.select=left_time", true},
        {"output.select=left.k, right_time", true},
        {"output.select=left.k, case when at is null then coalesce(right_time, at) end", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct config *c = EVENT_CONFIG(rows[i].select);
        assert_row(c->plan->keep_times == rows[i].kept, rows[i].select);
        config_free(c);
    }
}

static void an_expression_has_no_name_of_its_own(void **state)
{
    static const char *const names[] = {"k", "", "", "b", "window_end", "right.k"};
    struct config *c = EVENT_CONFIG(
        "output.select=left.k, upper(left.k), upper(left.k), 1 as b, window_end, right.k");
    const struct expr_list *select = &c->output[OUTPUT_RESULTS].format.select;

    (void)state;
    assert_int_equal(select->count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(select->items[i].name, names[i]);
    config_free(c);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    config_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_says_what_the_text_says),
        cmocka_unit_test(keys_are_doubles_where_one_of_them_is),
        cmocka_unit_test(formats_know_their_side),
        cmocka_unit_test(ends_say_where),
        cmocka_unit_test(columns_are_bound_and_named),
        cmocka_unit_test(relative_paths_of_set_start_at_the_current_folder),
        cmocka_unit_test(a_number_as_seed_is_no_random_one),
        cmocka_unit_test(another_text_is_noticed),
        cmocka_unit_test(faults_come_in_the_order_of_the_file),
        cmocka_unit_test(event_time_is_said_for_each_side),
        cmocka_unit_test(decoders_tell_times_that_are_a_field_as_it_stands),
        cmocka_unit_test(late_records_go_where_rejects_could),
        cmocka_unit_test(each_match_has_its_durations),
        cmocka_unit_test(a_left_record_waits_as_long_as_is_said),
        cmocka_unit_test(a_table_says_what_several_rows_of_a_key_mean),
        cmocka_unit_test(a_table_is_never_a_replay),
        cmocka_unit_test(two_files_in_event_time_are_a_replay),
        cmocka_unit_test(times_are_kept_where_a_column_asks_for_them),
        cmocka_unit_test(an_expression_has_no_name_of_its_own),
        cmocka_unit_test(freeing_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
