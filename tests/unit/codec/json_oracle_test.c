/* codec/json against jansson: records made at random, whole and with some bytes changed. */
#include "unit.h"

#include <jansson.h>
#include <stdio.h>

#include "base/buf.h"
#include "json_judge.h"
#include "transcript.h"

#define RECORDS 40000

static const char fields[] = "a, u, u.id, u.x.y, v.id, v.x.y.z, k.k.k, \\";

/* --- records at random --- */

static size_t below(uint64_t *random, size_t n)
{
    return (size_t)(transcript_random(random) % n);
}

static void append_one_of(struct buf *to, const char *const *texts, size_t count, uint64_t *random)
{
    buf_append_text(to, texts[below(random, count)]);
}

static void append_space(struct buf *to, uint64_t *random)
{
    static const char *const spaces[] = {"", "", "", "", " ", "\t", "\r", "\n", "  "};

    append_one_of(to, spaces, COUNT_OF(spaces), random);
}

static void append_name(struct buf *to, uint64_t *random)
{
    static const char *const names[] = {
        "\"a\"",       "\"u\"",    "\"id\"",       "\"x\"",
        "\"y\"",       "\"z\"",    "\"v\"",        "\"k\"",
        "\"b\"",       "\"c\"",    "\"\"",         "\"\\u0061\"",
        "\"\\u006B\"", "\"\\\\\"", "\"\xC3\xA4\"", "\"a longer name than most\"",
    };

    append_one_of(to, names, COUNT_OF(names), random);
}

static void append_scalar(struct buf *to, uint64_t *random)
{
    static const char *const scalars[] = {
        "0",
        "-0",
        "7",
        "-12",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "0.5",
        "-0.0",
        "1e5",
        "1E-5",
        "2.50",
        "123456.789e+3",
        "1e-400",
        "5e-324",
        "true",
        "false",
        "null",
        "null",
        "\"\"",
        "\"x\"",
        "\"a\\\"b, c\"",
        "\"\\n\\t\\/\\b\\f\\r\\\\\"",
        "\"\\u00e4\\u20AC\\ud83d\\ude00\"",
        "\"\xE2\x82\xAC \xF0\x9F\x98\x80\"",
        "\"{[}]\"",
        "\"more than eight plain bytes\"",
        "123456789012345678901234567890",
        "1e400",
    };

    append_one_of(to, scalars, COUNT_OF(scalars), random);
}

static void append_value(struct buf *to, uint64_t *random, int depth);

static void append_members(struct buf *to, uint64_t *random, int depth, bool named)
{
    size_t count = below(random, named ? 6 : 4);

    buf_append_char(to, named ? '{' : '[');
    append_space(to, random);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buf_append_char(to, ',');
            append_space(to, random);
        }
        if (named) {
            append_name(to, random);
            append_space(to, random);
            buf_append_char(to, ':');
            append_space(to, random);
        }
        append_value(to, random, depth + 1);
        append_space(to, random);
    }
    buf_append_char(to, named ? '}' : ']');
}

static void append_value(struct buf *to, uint64_t *random, int depth)
{
    size_t choice = depth == 0 ? 0 : below(random, 10);

    if (depth > 5 || choice > 5)
        append_scalar(to, random);
    else
        append_members(to, random, depth, choice < 5);
}

/* Another byte, one more or one less; mostly such as mean something. */
static void change(struct buf *b, uint64_t *random)
{
    static const char bytes[] =
        "{}[]:,\"\\'/ 0123456789.-+eEtfnulrsaubxd\t\n\r\x01\x7f\x80\xC3\xED\xFF";
    size_t at = below(random, buf_length(b));
    char *p = b->data + b->head + at;
    char byte =
        below(random, 8) == 0 ? (char)below(random, 256) : bytes[below(random, sizeof(bytes))];

    switch (below(random, 3)) {
    case 0:
        *p = byte;
        break;
    case 1:
        memmove(p, p + 1, buf_length(b) - at - 1);
        b->tail--;
        break;
    default:
        buf_reserve(b, 1);
        p = b->data + b->head + at;
        memmove(p + 1, p, buf_length(b) - at);
        *p = byte;
        b->tail++;
        break;
    }
}

static void check_seed(const struct fixture *f, uint64_t seed, bool changed)
{
    struct buf record = BUF_EMPTY;
    uint64_t random = seed;

    append_value(&record, &random, 0);
    for (size_t i = changed ? 1 + below(&random, 3) : 0; i > 0 && buf_length(&record) > 0; i--)
        change(&record, &random);
    if (!json_judge(f, buf_bytes(&record)))
        fail_msg("seed %llu, %s", (unsigned long long)seed, changed ? "changed" : "whole");
    buf_done(&record);
}

static void whole_records_are_read_as_jansson_reads_them(void **state)
{
    struct fixture f;

    (void)state;
    fixture_open_json(&f, fields);
    for (uint64_t seed = 1; seed <= RECORDS; seed++)
        check_seed(&f, seed, false);
    fixture_close(&f);
}

static void broken_records_are_refused_as_jansson_refuses_them(void **state)
{
    struct fixture f;

    (void)state;
    fixture_open_json(&f, fields);
    for (uint64_t seed = 1; seed <= RECORDS; seed++)
        check_seed(&f, seed, true);
    fixture_close(&f);
}

/* Every byte, and every two, where a value, a name's character and an escape stand. */
static void every_two_bytes_are_judged_alike_at_each_place(void **state)
{
    static const char *const records[] = {"{\"a\":??}",          "{\"a\":\"??\"}",  "{\"??\":1}",
                                          "{\"a\":\"\\u0??1\"}", "{\"a\":1??}",     "??{}",
                                          "{\"a\":[1]??",        "{\"a\":\"\\??\"}"};
    struct fixture f;

    (void)state;
    fixture_open_json(&f, fields);
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        char record[40];
        size_t at = (size_t)(strchr(records[i], '?') - records[i]);
        size_t n = strlen(records[i]);

        memcpy(record, records[i], n);
        for (int a = 0; a < 256; a++)
            for (int b = 0; b < 256; b += a < 0x80 ? 1 : 17) {
                record[at] = (char)a;
                record[at + 1] = (char)b;
                if (!json_judge(&f, (struct bytes){record, n}))
                    fail_msg("%s: 0x%02x 0x%02x", records[i], a, b);
            }
    }
    fixture_close(&f);
}

/* It is told of another path than the reader. */
static void the_judge_sees_a_difference(void **state)
{
    struct json_path *path;
    struct bytes name;
    struct fixture f;

    (void)state;
    fixture_open_json(&f, "a");
    assert_true(json_judge(&f, BYTES_LIT("{\"a\":1,\"b\":2}")));
    assert_true(json_judge(&f, BYTES_LIT("{\"a\":1")));
    path = &f.format.paths->paths[0];
    name = path->names[0];
    path->names[0] = BYTES_LIT("b"); /* the tree is made already */
    assert_false(json_judge(&f, BYTES_LIT("{\"a\":1,\"b\":2}")));
    assert_true(json_judge(&f, BYTES_LIT("{\"a\":1,\"b\":1}")));
    path->names[0] = name;
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_records_are_read_as_jansson_reads_them),
        cmocka_unit_test(broken_records_are_refused_as_jansson_refuses_them),
        cmocka_unit_test(every_two_bytes_are_judged_alike_at_each_place),
        cmocka_unit_test(the_judge_sees_a_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
