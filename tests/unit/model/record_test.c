#include "unit.h"

#include "base/mem.h"
#include "base/time.h"
#include "model/record.h"

#define NUMBER 4000000001u /* any, but with all its bytes in use */
#define HASH   0xdeadbeefu

/* Written into memory of exactly the size that was asked for. The caller frees it. */
static struct record *store(const struct record_parts *p)
{
    size_t n = record_size(p);
    struct record *r = mem_alloc(n);

    assert_int_equal(n % RECORD_ALIGN, 0);
    memset(r, 0xaa, n);
    record_write_parts(p, NUMBER, r);
    assert_int_equal(record_stride(r), n);
    return r;
}

/* The parts of a verbatim line whose key is the `n` bytes from `offset` on. */
static struct record_parts line_parts(struct bytes line, size_t offset, size_t n)
{
    return (struct record_parts){.hash = HASH, .body = line, .key = {line.p + offset, n}};
}

static void assert_is(const struct record *r, struct bytes body, struct bytes key)
{
    assert_true(bytes_equal(record_body(r), body));
    assert_true(bytes_equal(record_key(r), key));
    assert_int_equal(r->hash, HASH);
    assert_int_equal(r->number, NUMBER);
}

/* --- key and body --- */

static void a_key_within_the_line_is_not_stored_twice(void **state)
{
    struct bytes line = BYTES_LIT("1002,Ben,34.95");
    struct record_parts p = line_parts(line, 5, 3);
    struct record *r = store(&p);

    (void)state;
    assert_is(r, line, BYTES_LIT("Ben"));
    assert_int_equal(record_stride(r), 12 + 16);
    assert_true(record_key(r).p == record_body(r).p + 5);
    mem_free(r);
}

static void a_key_may_be_at_either_end_of_the_line_or_all_of_it(void **state)
{
    struct bytes line = BYTES_LIT("k,v");
    const struct {
        size_t offset, n;
        const char *key;
    } rows[] = {{0, 1, "k"}, {2, 1, "v"}, {0, 3, "k,v"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record_parts p = line_parts(line, rows[i].offset, rows[i].n);
        struct record *r = store(&p);
        assert_is(r, line, bytes_of(rows[i].key));
        assert_int_equal(record_stride(r), 12 + 4);
        mem_free(r);
    }
}

static void a_key_from_elsewhere_follows_the_body(void **state)
{
    struct record_parts p = {
        .hash = HASH, .body = BYTES_LIT("1002,Ben,34.95"), .key = BYTES_LIT("1002\0Ben")};
    struct record *r = store(&p);

    (void)state;
    assert_is(r, p.body, p.key);
    assert_int_equal(record_stride(r), 12 + 24); /* 14 + 8, rounded up */
    assert_true(record_key(r).p == record_body(r).p + 14);
    mem_free(r);
}

/* The scratch of a writer holds both, one behind the other: that is not within. */
static void a_key_that_begins_where_the_body_ends_follows_it(void **state)
{
    const char *scratch = "bodykey";
    struct record_parts p = {.hash = HASH, .body = {scratch, 4}, .key = {scratch + 4, 3}};
    struct record *r = store(&p);

    (void)state;
    assert_is(r, BYTES_LIT("body"), BYTES_LIT("key"));
    mem_free(r);
}

/* Within means wholly within. */
static void a_key_that_overlaps_the_end_of_the_line_follows_it(void **state)
{
    const char *scratch = "bodykey";
    struct record_parts p = {.hash = HASH, .body = {scratch, 4}, .key = {scratch + 3, 4}};
    struct record *r = store(&p);

    (void)state;
    assert_is(r, BYTES_LIT("body"), BYTES_LIT("ykey"));
    mem_free(r);
}

static void an_empty_key_takes_no_bytes(void **state)
{
    struct bytes line = BYTES_LIT("a,b,");
    const struct bytes keys[] = {BYTES_NULL, BYTES_LIT(""), {line.p + 4, 0}, {line.p + 2, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct record_parts p = {.hash = HASH, .body = line, .key = keys[i]};
        struct record *r = store(&p);
        assert_is(r, line, BYTES_LIT(""));
        assert_int_equal(record_stride(r), 12 + 4);
        mem_free(r);
    }
}

static void an_empty_body_may_have_a_key(void **state)
{
    struct record_parts p = {.hash = HASH, .body = BYTES_LIT(""), .key = BYTES_LIT("k")};
    struct record *r = store(&p);

    (void)state;
    assert_is(r, p.body, p.key);
    mem_free(r);

    p.key = BYTES_NULL;
    r = store(&p);
    assert_is(r, p.body, BYTES_LIT(""));
    assert_int_equal(record_stride(r), 12);
    mem_free(r);
}

/* --- size --- */

static void a_record_may_be_of_any_size(void **state)
{
    const size_t sizes[] = {1,    2,    3,    4,    5,    254,  255,   256,   257,    2046,
                            2047, 2048, 2049, 4095, 4096, 4097, 65535, 65536, 1 << 20};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t n = sizes[i];
        char *line = mem_alloc(n);
        struct record_parts p = line_parts((struct bytes){line, n}, 0, 1);
        struct record *r;

        for (size_t j = 0; j < n; j++)
            line[j] = (char)(j * 31);
        r = store(&p);
        assert_is(r, p.body, p.key);
        assert_int_equal(record_has(r, RECORD_WIDE), n > RECORD_SIZE_MASK);
        mem_free(r);
        mem_free(line);
    }
}

static void a_key_may_lie_anywhere_and_be_of_any_size(void **state)
{
    static const struct {
        size_t offset, n;
    } rows[] = {
        {0, 1}, {0, 255}, {1, 254}, {254, 1}, {100, 55}, {255, 0}, /* an empty key lies nowhere */
    };
    char line[RECORD_SIZE_MASK];

    (void)state;
    for (size_t i = 0; i < sizeof(line); i++)
        line[i] = (char)(i * 7 + i / 256);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record_parts p =
            line_parts((struct bytes){line, sizeof(line)}, rows[i].offset, rows[i].n);
        struct record *r = store(&p);
        assert_is(r, p.body, p.key);
        assert_false(record_has(r, RECORD_WIDE));
        assert_int_equal(record_stride(r), 256 + 12);
        mem_free(r);
    }
}

static void a_wide_record_has_its_key_anywhere(void **state)
{
    static const struct {
        size_t offset, n;
    } rows[] = {{0, 1}, {255, 255}, {256, 1}, {0, 256}, {255, 256}, {0, 511}, {510, 1}, {511, 0}};
    char line[511];

    (void)state;
    for (size_t i = 0; i < sizeof(line); i++)
        line[i] = (char)(i * 7 + i / 256);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record_parts p =
            line_parts((struct bytes){line, sizeof(line)}, rows[i].offset, rows[i].n);
        struct record *r = store(&p);
        assert_is(r, p.body, p.key);
        assert_true(record_has(r, RECORD_WIDE));
        assert_int_equal(record_stride(r), 512 + 12 + sizeof(struct record_wide));
        mem_free(r);
    }
}

static void a_key_of_its_own_may_be_long(void **state)
{
    const size_t bodies[] = {0, 3, 255, 256, 3000}, keys[] = {1, 255, 256, 70000};
    char *body = mem_alloc(3000), *key = mem_alloc(70000);

    (void)state;
    memset(body, 'b', 3000);
    memset(key, 'k', 70000);
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        for (size_t j = 0; j < COUNT_OF(keys); j++) {
            struct record_parts p = {
                .hash = HASH, .body = {body, bodies[i]}, .key = {key, keys[j]}};
            struct record *r = store(&p);
            assert_is(r, p.body, p.key);
            mem_free(r);
        }
    mem_free(body);
    mem_free(key);
}

static void records_lie_behind_each_other(void **state)
{
    const struct bytes lines[] = {BYTES_LIT("a,1"), BYTES_LIT("bb,22"), BYTES_LIT(""),
                                  BYTES_LIT("cccc,3333,,,,")};
    char *chunk = mem_alloc(512), *at = chunk;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct record_parts p = line_parts(lines[i], 0, lines[i].n > 0);
        record_write_parts(&p, (uint32_t)i, (struct record *)at);
        at += record_size(&p);
    }
    at = chunk;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const struct record *r = (const struct record *)at;
        assert_int_equal(r->number, i);
        assert_true(bytes_equal(record_body(r), lines[i]));
        at += record_stride(r);
    }
    mem_free(chunk);
}

/* --- flags --- */

static void flags_are_kept_and_change_nothing_else(void **state)
{
    const uint16_t given[] = {0, RECORD_NULL_KEY, RECORD_PACKED, RECORD_NULL_KEY | RECORD_PACKED};
    const size_t sizes[] = {0, 100, RECORD_SIZE_MASK, RECORD_SIZE_MASK + 1};
    char body[RECORD_SIZE_MASK + 1] = "";

    (void)state;
    for (size_t i = 0; i < COUNT_OF(given); i++)
        for (size_t j = 0; j < COUNT_OF(sizes); j++) {
            struct record_parts p = {
                .hash = HASH, .body = {body, sizes[j]}, .key = BYTES_LIT("k"), .flags = given[i]};
            struct record *r = store(&p);
            size_t stride = record_stride(r);

            assert_int_equal(record_has(r, RECORD_NULL_KEY), (given[i] & RECORD_NULL_KEY) != 0);
            assert_int_equal(record_has(r, RECORD_PACKED), (given[i] & RECORD_PACKED) != 0);
            assert_false(record_has(r, RECORD_MATCHED));
            assert_false(record_has(r, RECORD_DECIDED));
            r->size_flags |= RECORD_MATCHED | RECORD_DECIDED;
            assert_is(r, p.body, p.key);
            assert_int_equal(record_stride(r), stride);
            mem_free(r);
        }
}

static void a_time_lies_before_the_body(void **state)
{
    const size_t bodies[] = {0, 3, 255, 511, 512, 3000}, keys[] = {0, 1, 255, 256};
    const int64_t times[] = {0, -1, 1234567890123, INT64_MIN, INT64_MAX};
    char *body = mem_alloc(3000), *key = mem_alloc(256);

    (void)state;
    memset(body, 'b', 3000);
    memset(key, 'k', 256);
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        for (size_t j = 0; j < COUNT_OF(keys); j++)
            for (size_t t = 0; t < COUNT_OF(times); t++) {
                struct record_parts p = {.hash = HASH,
                                         .body = {body, bodies[i]},
                                         .key = {key, keys[j]},
                                         .flags = RECORD_TIMED,
                                         .time = times[t]};
                struct record *r = store(&p);
                assert_is(r, p.body, p.key);
                assert_int_equal(record_time(r), times[t]);
                mem_free(r);
            }
    mem_free(body);
    mem_free(key);
}

/* Whatever the base, the time is the one within 2^32 ms of it; it costs 4 bytes. */
static void a_time_of_32_bits_is_completed_by_a_base(void **state)
{
    const size_t bodies[] = {0, 3, 40, 255, 256, 3000}, keys[] = {0, 1, 255, 256};
    const int64_t bases[] = {0, -1, -10000, 1234567890123, TIME_MS_MIN, TIME_MS_MAX - UINT32_MAX};
    const uint32_t afters[] = {0, 1, 0x7fffffff, 0x80000000, UINT32_MAX};
    char *body = mem_alloc(3000), *key = mem_alloc(256);

    (void)state;
    memset(body, 'b', 3000);
    memset(key, 'k', 256);
    for (size_t i = 0; i < COUNT_OF(bodies) * COUNT_OF(keys) * COUNT_OF(bases) * COUNT_OF(afters);
         i++) {
        int64_t base = bases[i % COUNT_OF(bases)];
        int64_t t = base + afters[i / COUNT_OF(bases) % COUNT_OF(afters)];
        size_t j = i / (COUNT_OF(bases) * COUNT_OF(afters));
        struct record_parts p = {.hash = HASH,
                                 .body = {body, bodies[j % COUNT_OF(bodies)]},
                                 .key = {key, keys[j / COUNT_OF(bodies)]},
                                 .flags = RECORD_TIME32,
                                 .time = t};
        struct record *r = store(&p);
        struct record_parts untimed = p;

        untimed.flags = 0;
        assert_is(r, p.body, p.key);
        assert_int_equal(record_time_near(r, base), t);
        assert_int_equal(record_size(&p), record_size(&untimed) + 4);
        mem_free(r);
    }
    mem_free(body);
    mem_free(key);
}

static void a_whole_time_needs_no_base(void **state)
{
    struct record_parts p = {
        .hash = HASH, .body = BYTES_LIT("k"), .key = BYTES_NULL, .flags = RECORD_TIMED, .time = -5};
    struct record *r = store(&p);

    (void)state;
    assert_int_equal(record_time_near(r, 1234567890123), -5);
    mem_free(r);
}

static void no_flag_is_part_of_the_size(void **state)
{
    const unsigned flags[] = {RECORD_TIME32,  RECORD_PAIRED,   RECORD_TIMED,  RECORD_DECIDED,
                              RECORD_MATCHED, RECORD_NULL_KEY, RECORD_PACKED, RECORD_WIDE};
    unsigned all = RECORD_SIZE_MASK;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        assert_int_equal(all & flags[i], 0);
        all |= flags[i];
    }
    assert_int_equal(all, UINT16_MAX);
}

/* --- fields --- */

#define FIELDS_MAX 6

/* `|` between the fields, `~` for NULL. */
static void assert_fields(const struct bytes *fields, size_t count, const char *expected)
{
    struct buf text = BUF_EMPTY;

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_char(&text, '|');
        if (fields[i].p == NULL)
            buf_append_char(&text, '~');
        buf_append_bytes(&text, fields[i]);
    }
    assert_text(buf_data(&text), buf_length(&text), expected);
    buf_done(&text);
}

static void verbatim_lines_are_cut_at_their_delimiter(void **state)
{
    static const struct {
        const char *line;
        size_t count;
        char delimiter;
        struct bytes null_text;
        const char *fields;
    } rows[] = {
        {"a", 1, ',', BYTES_LIT(""), "a"},
        {"a,b,c", 3, ',', BYTES_LIT(""), "a|b|c"},
        {"a,,c", 3, ',', BYTES_LIT(""), "a|~|c"},
        {",,", 3, ',', BYTES_LIT(""), "~|~|~"},
        {",b", 2, ',', BYTES_LIT(""), "~|b"},
        {"a,", 2, ',', BYTES_LIT(""), "a|~"},
        {"a,", 2, ',', BYTES_NULL, "a|~"}, /* as if it were the empty text */
        {"a;b,c", 2, ';', BYTES_LIT(""), "a|b,c"},
        {"a\tb\t", 3, '\t', BYTES_LIT(""), "a|b|~"},
        {"\\N,,\\Nx", 3, ',', BYTES_LIT("\\N"), "~||\\Nx"},
        {",\\N", 2, ',', BYTES_LIT("\\N"), "|~"},
        {"null,NULL,nul", 3, ',', BYTES_LIT("null"), "~|NULL|nul"},
        {" a , b ", 2, ',', BYTES_LIT(""), " a | b "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct record_form form = {rows[i].count, rows[i].delimiter, rows[i].null_text};
        struct record_parts p = line_parts(bytes_of(rows[i].line), 0, 0);
        struct record *r = store(&p);
        struct bytes fields[FIELDS_MAX];

        record_fields(r, &form, fields);
        assert_fields(fields, rows[i].count, rows[i].fields);
        mem_free(r);
    }
}

/* A key behind the line is no part of its last field. */
static void the_key_behind_a_line_is_no_field(void **state)
{
    struct record_form form = {2, ',', BYTES_LIT("")};
    struct record_parts p = {.hash = HASH, .body = BYTES_LIT("a,b"), .key = BYTES_LIT("x,y")};
    struct record *r = store(&p);
    struct bytes fields[2];

    (void)state;
    record_fields(r, &form, fields);
    assert_fields(fields, 2, "a|b");
    mem_free(r);
}

static void empty_fields_point_into_the_record(void **state)
{
    struct record_form form = {2, ',', BYTES_LIT("\\N")};
    struct record_parts p = line_parts(BYTES_LIT("a,"), 0, 1);
    struct record *r = store(&p);
    struct bytes fields[2];

    (void)state;
    record_fields(r, &form, fields);
    assert_true(fields[1].p == record_body(r).p + 2); /* not NULL: it is the empty string */
    assert_int_equal(fields[1].n, 0);
    mem_free(r);
}

static void pack(const struct bytes *fields, size_t count, struct buf *to)
{
    char *at = buf_reserve(to, record_packed_room(fields, count));

    buf_advance(to, (size_t)(record_pack(fields, count, at) - at));
}

static struct record *store_packed(const struct bytes *fields, size_t count, struct bytes key)
{
    struct buf body = BUF_EMPTY;
    struct record_parts p = {.hash = HASH, .key = key, .flags = RECORD_PACKED};
    struct record *r;

    pack(fields, count, &body);
    p.body = buf_bytes(&body);
    r = store(&p);
    buf_done(&body);
    return r;
}

static void packed_fields_come_back_as_they_were(void **state)
{
    /* What could be taken for a delimiter or for NULL is neither here. */
    const struct bytes fields[] = {BYTES_LIT("a,\"b\"\n"), BYTES_NULL,     BYTES_LIT(""),
                                   BYTES_LIT("\\N"),       BYTES_LIT("x"), BYTES_NULL};
    struct record_form form = {COUNT_OF(fields), ',', BYTES_LIT("\\N")};
    struct record *r = store_packed(fields, COUNT_OF(fields), BYTES_LIT("x"));
    struct bytes out[COUNT_OF(fields)];

    (void)state;
    record_fields(r, &form, out);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        assert_int_equal(out[i].p == NULL, fields[i].p == NULL);
        assert_true(bytes_equal(out[i], fields[i]));
    }
    assert_true(bytes_equal(record_key(r), BYTES_LIT("x")));
    mem_free(r);
}

static void packed_fields_may_be_of_any_size(void **state)
{
    /* Where the varint of size + 1 becomes a byte longer, and beyond. */
    const size_t sizes[] = {0, 1, 126, 127, 128, 16382, 16383, 16384, 2097150, 2097151, 2097152};
    char *text = mem_alloc(2097152);

    (void)state;
    memset(text, 't', 2097152);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct bytes fields[] = {{text, sizes[i]}, BYTES_NULL, BYTES_LIT("end")};
        struct record_form form = {3, ',', BYTES_LIT("")};
        struct record *r = store_packed(fields, 3, BYTES_LIT("key"));
        struct bytes out[3];

        record_fields(r, &form, out);
        assert_true(out[0].p != NULL && bytes_equal(out[0], fields[0]));
        assert_null(out[1].p);
        assert_text(out[2].p, out[2].n, "end");
        assert_text(record_key(r).p, record_key(r).n, "key");
        mem_free(r);
    }
    mem_free(text);
}

static void packing_appends(void **state)
{
    const struct bytes first[] = {BYTES_LIT("a"), BYTES_NULL}, second[] = {BYTES_LIT("bc")};
    struct buf to = BUF_EMPTY;

    (void)state;
    pack(first, 2, &to);
    pack(second, 1, &to);
    pack(NULL, 0, &to);
    assert_true(bytes_equal(buf_bytes(&to), BYTES_LIT("\2a\0\3bc")));
    buf_done(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_within_the_line_is_not_stored_twice),
        cmocka_unit_test(a_key_may_be_at_either_end_of_the_line_or_all_of_it),
        cmocka_unit_test(a_key_from_elsewhere_follows_the_body),
        cmocka_unit_test(a_key_that_begins_where_the_body_ends_follows_it),
        cmocka_unit_test(a_key_that_overlaps_the_end_of_the_line_follows_it),
        cmocka_unit_test(an_empty_key_takes_no_bytes),
        cmocka_unit_test(an_empty_body_may_have_a_key),
        cmocka_unit_test(a_record_may_be_of_any_size),
        cmocka_unit_test(a_key_may_lie_anywhere_and_be_of_any_size),
        cmocka_unit_test(a_wide_record_has_its_key_anywhere),
        cmocka_unit_test(a_key_of_its_own_may_be_long),
        cmocka_unit_test(records_lie_behind_each_other),
        cmocka_unit_test(flags_are_kept_and_change_nothing_else),
        cmocka_unit_test(a_time_lies_before_the_body),
        cmocka_unit_test(a_time_of_32_bits_is_completed_by_a_base),
        cmocka_unit_test(a_whole_time_needs_no_base),
        cmocka_unit_test(no_flag_is_part_of_the_size),
        cmocka_unit_test(verbatim_lines_are_cut_at_their_delimiter),
        cmocka_unit_test(the_key_behind_a_line_is_no_field),
        cmocka_unit_test(empty_fields_point_into_the_record),
        cmocka_unit_test(packed_fields_come_back_as_they_were),
        cmocka_unit_test(packed_fields_may_be_of_any_size),
        cmocka_unit_test(packing_appends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
