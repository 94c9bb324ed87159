#include "lang/value.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "base/number.h"
#include "base/stamp.h"
#include "base/time.h"
#include "lang/word.h"

static const struct {
    const char *name;
    enum value_type class;
} types[VALUE_TYPES] = {
    [TYPE_STRING] = {"string", TYPE_STRING},
    [TYPE_BIGINT] = {"bigint", TYPE_BIGINT},
    [TYPE_DOUBLE] = {"double", TYPE_DOUBLE},
    [TYPE_BOOLEAN] = {"boolean", TYPE_BOOLEAN},
    [TYPE_TIMESTAMP] = {"timestamp", TYPE_TIMESTAMP},
    [TYPE_TIMESTAMP_S] = {"timestamp_s", TYPE_DOUBLE},
    [TYPE_TIMESTAMP_MS] = {"timestamp_ms", TYPE_BIGINT},
    [TYPE_TIMESTAMP_US] = {"timestamp_us", TYPE_BIGINT},
    [TYPE_TIMESTAMP_NS] = {"timestamp_ns", TYPE_BIGINT},
};

const char *value_type_name(enum value_type t)
{
    assert((unsigned)t < VALUE_TYPES);
    return types[t].name;
}

bool value_type_from_name(struct bytes name, enum value_type *ret)
{
    for (int t = 0; t < VALUE_TYPES; t++)
        if (word_is(name, types[t].name)) {
            *ret = (enum value_type)t;
            return true;
        }
    return false;
}

enum value_type value_type_class(enum value_type t)
{
    assert((unsigned)t < VALUE_TYPES);
    return types[t].class;
}

static bool is_number(enum value_type class)
{
    return class == TYPE_BIGINT || class == TYPE_DOUBLE;
}

bool value_types_comparable(enum value_type a, enum value_type b)
{
    a = value_type_class(a);
    b = value_type_class(b);
    return a == b || (is_number(a) && is_number(b));
}

/* --- checking --- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool all_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p == end;
}

static enum value_check check_of_form(enum number_form form)
{
    switch (form) {
    case NUMBER_CANONICAL:
        return VALUE_CANONICAL;
    case NUMBER_VALID:
        return VALUE_VALID;
    case NUMBER_BAD:
        break;
    }
    return VALUE_BAD;
}

#define BIGINT_DIGITS_SAFE 18 /* so many digits never overflow */

static enum value_check check_bigint(struct bytes text)
{
    const char *p = text.p, *end = p + text.n;

    if (p < end && *p == '-')
        p++;
    /* Nearly all numbers are short and begin with another digit than 0. */
    if (p < end && *p != '0' && end - p <= BIGINT_DIGITS_SAFE && all_digits(p, end))
        return VALUE_CANONICAL;
    return check_of_form(number_bigint_form(text));
}

/* Within [min, max], both in the unit of the text. */
static enum value_check check_epoch(struct bytes text, int64_t min, int64_t max)
{
    enum value_check check = check_bigint(text);
    int64_t t;

    if (check == VALUE_BAD || !number_read_bigint(text, &t) || t < min || t > max)
        return VALUE_BAD;
    return check;
}

#define SECONDS_MIN (TIME_MS_MIN / 1000)
#define SECONDS_MAX (TIME_MS_MAX / 1000) /* and any fraction of it */

/* Digits, and a fraction if wanted; an exponent is no way to write a time. Digits
 * beyond the millisecond are kept: the text is never rewritten. */
static enum value_check check_epoch_seconds(struct bytes text)
{
    const char *end = text.p + text.n;
    const char *point = text.n > 0 ? memchr(text.p, '.', text.n) : NULL;
    const char *fraction = point != NULL ? point + 1 : end;
    struct bytes whole = {text.p, (size_t)((point != NULL ? point : end) - text.p)};
    int64_t seconds;

    if (!number_read_bigint(whole, &seconds) || seconds < SECONDS_MIN || seconds > SECONDS_MAX)
        return VALUE_BAD;
    if (!all_digits(fraction, end) || (point != NULL && fraction == end))
        return VALUE_BAD;
    if (seconds == SECONDS_MIN) /* where a fraction leads out of the year 1 */
        for (const char *p = fraction; p < end; p++)
            if (*p != '0')
                return VALUE_BAD;
    return VALUE_CANONICAL;
}

static enum value_check check_boolean(struct bytes text)
{
    if (bytes_equal(text, BYTES_LIT("true")) || bytes_equal(text, BYTES_LIT("false")))
        return VALUE_CANONICAL;
    return word_is(text, "true") || word_is(text, "false") ? VALUE_VALID : VALUE_BAD;
}

static enum value_check check_timestamp(struct bytes text)
{
    int64_t ms;

    if (time_is_canonical(text))
        return VALUE_CANONICAL;
    return time_read_rfc3339(text, &ms) ? VALUE_VALID : VALUE_BAD;
}

enum value_check value_check(enum value_type t, struct bytes text)
{
    assert(text.p != NULL);
    switch (t) {
    case TYPE_STRING:
        return VALUE_CANONICAL;
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP_NS: /* 64 bits of nanoseconds are the years 1677 to 2262 */
        return check_bigint(text);
    case TYPE_DOUBLE:
        return check_of_form(number_double_form(text));
    case TYPE_BOOLEAN:
        return check_boolean(text);
    case TYPE_TIMESTAMP:
        return check_timestamp(text);
    case TYPE_TIMESTAMP_S:
        return check_epoch_seconds(text);
    case TYPE_TIMESTAMP_MS:
        return check_epoch(text, TIME_MS_MIN, TIME_MS_MAX);
    case TYPE_TIMESTAMP_US:
        return check_epoch(text, TIME_MS_MIN * 1000, TIME_MS_MAX * 1000 + 999);
    }
    return VALUE_BAD;
}

/* --- writing and reading --- */

static void append_bigint(struct bytes text, struct buf *to)
{
    int64_t value;
    bool ok = number_read_bigint(text, &value);

    assert(ok);
    buf_advance(to, number_write_bigint(value, buf_reserve(to, NUMBER_TEXT_MAX)));
}

static void append_double(struct bytes text, struct buf *to)
{
    double value;
    bool ok = number_read_double(text, &value);

    assert(ok);
    buf_advance(to, number_write_double(value, buf_reserve(to, NUMBER_TEXT_MAX)));
}

static void append_timestamp(struct bytes text, struct buf *to)
{
    int64_t ms;
    bool ok = time_read_rfc3339(text, &ms);

    assert(ok);
    time_append_rfc3339(ms, to);
}

void value_append_canonical(enum value_type t, struct bytes text, struct buf *to)
{
    assert(text.p != NULL);
    switch (t) {
    case TYPE_STRING:
    case TYPE_TIMESTAMP_S:
        buf_append_bytes(to, text);
        break;
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP_MS:
    case TYPE_TIMESTAMP_US:
    case TYPE_TIMESTAMP_NS:
        append_bigint(text, to);
        break;
    case TYPE_DOUBLE:
        append_double(text, to);
        break;
    case TYPE_BOOLEAN:
        buf_append_text(to, word_is(text, "true") ? "true" : "false");
        break;
    case TYPE_TIMESTAMP:
        append_timestamp(text, to);
        break;
    }
}

struct value value_read(enum value_type t, struct bytes text)
{
    struct value v = {.type = value_type_class(t), .null = text.p == NULL};
    bool ok = true;

    if (v.null)
        return v;
    switch (v.type) {
    case TYPE_BIGINT:
        ok = number_read_bigint(text, &v.bigint);
        break;
    case TYPE_DOUBLE:
        ok = number_read_double(text, &v.real);
        break;
    case TYPE_BOOLEAN:
        v.boolean = text.n > 0 && text.p[0] == 't';
        break;
    case TYPE_TIMESTAMP:
        ok = time_read_rfc3339(text, &v.bigint);
        break;
    default: /* a string: the other types are no classes */
        v.text = text;
        break;
    }
    assert(ok);
    return v;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int value_compare(const struct value *a, const struct value *b)
{
    assert(!a->null && !b->null && value_types_comparable(a->type, b->type));
    assert(value_types_comparable(a->type, b->type));
    if (a->type != b->type)
        return ORDER(value_real(a), value_real(b));
    switch (a->type) {
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
        return ORDER(a->bigint, b->bigint);
    case TYPE_DOUBLE:
        return ORDER(a->real, b->real);
    case TYPE_BOOLEAN:
        return ORDER(a->boolean, b->boolean);
    default:
        return ORDER(bytes_compare(a->text, b->text), 0);
    }
}

struct bytes value_text(const struct value *v, char *room)
{
    assert(!v->null);
    switch (v->type) {
    case TYPE_BIGINT:
        return (struct bytes){room, number_write_bigint(v->bigint, room)};
    case TYPE_DOUBLE:
        return (struct bytes){room, number_write_double(v->real, room)};
    case TYPE_BOOLEAN:
        return v->boolean ? BYTES_LIT("true") : BYTES_LIT("false");
    case TYPE_TIMESTAMP:
        time_write_rfc3339(v->bigint, room);
        return (struct bytes){room, TIME_TEXT_LENGTH};
    default: /* a string: the other types are no classes */
        return v->text;
    }
}

static_assert(VALUE_TEXT_MAX >= TIME_TEXT_LENGTH, "a time fits");

void value_append(const struct value *v, struct buf *to)
{
    char room[VALUE_TEXT_MAX];

    assert(!v->null);
    buf_append_bytes(to, value_text(v, room));
}

/* --- instants --- */

/* Digits and a fraction: exact, where a double would round. */
static int64_t seconds_text_ms(struct bytes text)
{
    const char *end = text.p + text.n;
    const char *point = text.n > 0 ? memchr(text.p, '.', text.n) : NULL;
    struct bytes whole = {text.p, (size_t)((point != NULL ? point : end) - text.p)};
    bool negative = text.n > 0 && text.p[0] == '-', below = false;
    int64_t seconds, fraction = 0;
    bool ok = number_read_bigint(whole, &seconds);

    assert(ok);
    for (int i = 1; i <= 3; i++)
        fraction = 10 * fraction + (point != NULL && point + i < end ? point[i] - '0' : 0);
    for (const char *p = point == NULL ? end : point + 1; p < end; p++)
        below |= p > point + 3 && *p != '0';
    return seconds * 1000 + (negative ? -fraction - below : fraction);
}

static __attribute__((noinline)) int64_t any_time_ms(enum value_type t, struct bytes text)
{
    struct value v;
    int64_t ms;
    bool ok;

    if (t == TYPE_TIMESTAMP_S)
        return seconds_text_ms(text);
    v = value_read(t, text);
    ok = value_instant_ms(t, &v, &ms);
    assert(ok);
    return ms;
}

int64_t value_time_ms(enum value_type t, struct bytes text)
{
    struct stamp_era era = STAMP_NO_ERA;
    int64_t ms;

    assert(text.p != NULL);
    if (t == TYPE_TIMESTAMP_MS && stamp_read(&era, text, &ms))
        return ms;
    return any_time_ms(t, text);
}

/* A double has no more than 16 digits of a time: what it means is the nearest microsecond. */
static bool seconds_ms(double seconds, int64_t *ret)
{
    if (!(seconds >= (double)SECONDS_MIN && seconds < (double)(SECONDS_MAX + 1)))
        return false;
    *ret = floor_div(llround(seconds * 1e6), 1000);
    return true;
}

bool value_instant_ms(enum value_type t, const struct value *v, int64_t *ret_ms)
{
    int64_t ms;

    assert(!v->null && v->type == value_type_class(t));
    switch (t) {
    case TYPE_TIMESTAMP_S:
        if (!seconds_ms(v->real, &ms))
            return false;
        break;
    case TYPE_TIMESTAMP_US:
        ms = floor_div(v->bigint, 1000);
        break;
    case TYPE_TIMESTAMP_NS:
        ms = floor_div(v->bigint, 1000000);
        break;
    default:
        ms = v->bigint;
        break;
    }
    if (ms < TIME_MS_MIN || ms > TIME_MS_MAX)
        return false;
    *ret_ms = ms;
    return true;
}
