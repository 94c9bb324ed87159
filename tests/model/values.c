#include "values.h"

#include <stdlib.h>
#include <string.h>

#define TEN     "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

const struct alphabet alphabet_string = {
    .type = "string",
    .kind = REF_TEXT,
    .values = {{"k", NULL},
               {"", NULL},
               {"kk", NULL}, /* k + kk, kk + k: keys of two parts must not run together */
               {"K", NULL},
               {" k", NULL},
               {"k,m", NULL},
               {"k;m|\t", NULL},
               {"say \"k\"", NULL},
               {"NULL", NULL},
               {"-", NULL},
               {"0", NULL},
               {"00", NULL},
               {"stra\303\237e", NULL},
               {HUNDRED, NULL},
               {HUNDRED HUNDRED HUNDRED "a", NULL},
               {HUNDRED HUNDRED HUNDRED "b", NULL}},
};

const struct alphabet alphabet_boolean = {
    .type = "boolean",
    .kind = REF_TRUTH,
    .values = {{"true", NULL}, {"false", NULL}},
    .not_one = "maybe",
};

/* Few: what is computed from them meets, and zero is among them. */
const struct alphabet alphabet_number = {
    .type = "bigint",
    .kind = REF_WHOLE,
    .values = {{"0", NULL}, {"1", NULL}, {"2", NULL}, {"3", NULL}, {"-1", NULL}, {"5", NULL}},
    .not_one = "1.5",
};

static const struct alphabet alphabet_bigint = {
    .type = "bigint",
    .kind = REF_WHOLE,
    .values = {{"1", NULL},
               {"01", "1"},
               {"2", NULL},
               {"0", NULL},
               {"-0", "0"},
               {"-1", NULL},
               {"-0001", "-1"},
               {"9007199254740992", NULL},
               {"9007199254740993", NULL},
               {"9223372036854775807", NULL},
               {"9223372036854775806", NULL},
               {"-9223372036854775808", NULL}},
    .not_one = "1.0",
};

static const struct alphabet alphabet_double = {
    .type = "double",
    .kind = REF_REAL,
    .values = {{"1", NULL},
               {"1.0", "1"},
               {"2", NULL},
               {"-0", NULL},
               {"0.0", "0"},
               {"0.1e1", "1"},
               {"-1.00", "-1"},
               {"9007199254740992", NULL},
               {"9007199254740993", "9007199254740992"},
               {"9223372036854775807", "9223372036854776000"},
               {"0.1", NULL},
               {"0.10", "0.1"},
               {"0.1000000000000000055511151231257827", "0.1"},
               {"1E21", "1e+21"},
               {"0.0000001", "1e-7"},
               {"-9223372036854775808", "-9223372036854776000"}},
    .not_one = "1.",
};

static const struct alphabet alphabet_timestamp = {
    .type = "timestamp",
    .kind = REF_TEXT,
    .values = {{"2026-01-02T03:04:05.678Z", NULL},
               {"2026-01-02 03:04:05.678", "2026-01-02T03:04:05.678Z"},
               {"2026-01-02T04:04:05.6789+01:00", "2026-01-02T03:04:05.678Z"},
               {"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"},
               {"0001-01-01T00:00:00.000Z", NULL},
               {"9999-12-31T23:59:59.999Z", NULL}},
    .not_one = "2026-02-30T00:00:00Z",
};

static const struct alphabet alphabet_timestamp_ms = {
    .type = "timestamp_ms",
    .kind = REF_WHOLE,
    .values = {{"1767323045678", NULL},
               {"01767323045678", "1767323045678"},
               {"1", NULL},
               {"2", NULL},
               {"-1", NULL},
               {"0", NULL}},
    .not_one = "253402300800000",
};

static const struct alphabet alphabet_timestamp_s = {
    .type = "timestamp_s",
    .kind = REF_REAL,
    .values = {{"1", NULL},
               {"1.0", NULL},
               {"1.5", NULL},
               {"1.50", NULL},
               {"01.5", NULL},
               {"0", NULL},
               {"-0", NULL},
               {"-1.5", NULL},
               {"0.1", NULL}},
    .not_one = "253402300800",
};

const struct alphabet_pair alphabet_pairs[] = {
    {{&alphabet_string, &alphabet_string}},       {{&alphabet_string, &alphabet_string}},
    {{&alphabet_bigint, &alphabet_bigint}},       {{&alphabet_bigint, &alphabet_double}},
    {{&alphabet_double, &alphabet_bigint}},       {{&alphabet_double, &alphabet_double}},
    {{&alphabet_boolean, &alphabet_boolean}},     {{&alphabet_timestamp, &alphabet_timestamp}},
    {{&alphabet_timestamp_ms, &alphabet_bigint}}, {{&alphabet_timestamp_s, &alphabet_timestamp_s}},
    {{&alphabet_timestamp_s, &alphabet_bigint}},  {{&alphabet_double, &alphabet_timestamp_s}},
};
const size_t alphabet_pair_count = sizeof(alphabet_pairs) / sizeof(alphabet_pairs[0]);

size_t alphabet_size(const struct alphabet *a)
{
    size_t n = 0, most = sizeof(a->values) / sizeof(a->values[0]);
    while (n < most && a->values[n].input != NULL)
        n++;
    return n;
}

const char *alphabet_written(const struct alphabet *a, int value)
{
    const char *written = a->values[value].written;
    return written != NULL ? written : a->values[value].input;
}

struct ref_value alphabet_value(const struct alphabet *a, int value)
{
    const char *text = alphabet_written(a, value);
    return (struct ref_value){
        .kind = a->kind,
        .text = text,
        .whole = a->kind == REF_TRUTH ? strcmp(text, "true") == 0 : strtoll(text, NULL, 10),
        .real = strtod(text, NULL),
    };
}
