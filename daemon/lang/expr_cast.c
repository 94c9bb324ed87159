#include <assert.h>
#include <math.h>

#include "base/number.h"
#include "base/time.h"
#include "lang/expr_inner.h"
#include "lang/word.h"

/* --- which there are --- */

static bool is_instant(enum value_type t)
{
    return t == TYPE_TIMESTAMP || value_type_class(t) != t;
}

static bool is_number(enum value_type t)
{
    return t == TYPE_BIGINT || t == TYPE_DOUBLE;
}

/* Instants have a unit, so they become each other; as a bigint each is its own number, a
 * timestamp that of its milliseconds. */
bool expr_cast_exists(enum value_type from, enum value_type to)
{
    if (from == to || from == TYPE_STRING || to == TYPE_STRING)
        return true;
    if (from == TYPE_BOOLEAN || to == TYPE_BOOLEAN)
        return from == TYPE_BIGINT || to == TYPE_BIGINT;
    if (from == TYPE_TIMESTAMP || to == TYPE_TIMESTAMP)
        return from != TYPE_DOUBLE && to != TYPE_DOUBLE;
    return true;
}

/* --- to and from text --- */

static void text_from(const struct value *v, struct expr_memory *m, struct value *ret)
{
    char *room = expr_memory_room(m, VALUE_TEXT_MAX);

    ret->text = value_text(v, room);
    if (ret->text.p == room)
        expr_memory_keep(m, ret->text.n);
}

/* The text has to be what a CSV field of the type may be. */
static enum expr_outcome read_text(struct bytes text, enum value_type to, struct value *ret)
{
    bool ok = value_check(to, text) != VALUE_BAD;

    switch (ret->type) {
    case TYPE_BIGINT:
        ok = ok && number_read_bigint(text, &ret->bigint);
        break;
    case TYPE_DOUBLE:
        ok = ok && number_read_double(text, &ret->real);
        break;
    case TYPE_TIMESTAMP:
        ok = ok && time_read_rfc3339(text, &ret->bigint);
        break;
    default:
        ret->boolean = word_is(text, "true");
        break;
    }
    return ok ? EXPR_OK : EXPR_BAD_CAST;
}

/* --- numbers --- */

/* Cuts towards zero. */
static enum expr_outcome whole_of(double real, struct value *ret)
{
    real = trunc(real);
    if (!(real >= -0x1p63 && real < 0x1p63))
        return EXPR_OVERFLOW;
    ret->bigint = (int64_t)real;
    return EXPR_OK;
}

/* Between the classes bigint, double, boolean; a timestamp is the number of its ms. */
static enum expr_outcome convert(const struct value *v, struct value *ret)
{
    switch (ret->type) {
    case TYPE_DOUBLE:
        ret->real = value_real(v);
        return EXPR_OK;
    case TYPE_BOOLEAN:
        ret->boolean = v->type == TYPE_BOOLEAN ? v->boolean : v->bigint != 0;
        return EXPR_OK;
    default:
        if (v->type == TYPE_DOUBLE)
            return whole_of(v->real, ret);
        ret->bigint = v->type == TYPE_BOOLEAN ? v->boolean : v->bigint;
        return EXPR_OK;
    }
}

/* --- instants --- */

/* Both within the years 0001 to 9999: what is more is cut, towards the past. */
struct instant {
    int64_t ms;
    int64_t rest_us; /* 0 to 999 */
    int64_t rest_ns; /* below rest_us: 0 to 999 */
};

static bool read_instant(const struct value *v, enum value_type from, struct instant *ret)
{
    int64_t us = 0;

    *ret = (struct instant){0};
    if (!value_instant_ms(from, v, &ret->ms))
        return false;
    if (from == TYPE_TIMESTAMP_S)
        us = llround(v->real * 1e6); /* as value_instant_ms() does */
    else if (from == TYPE_TIMESTAMP_US)
        us = v->bigint;
    else if (from == TYPE_TIMESTAMP_NS)
        us = floor_div(v->bigint, 1000);
    ret->rest_us = floor_mod(us, 1000);
    if (from == TYPE_TIMESTAMP_NS)
        ret->rest_ns = floor_mod(v->bigint, 1000);
    return true;
}

static enum expr_outcome write_instant(const struct instant *i, enum value_type to,
                                       struct value *ret)
{
    int64_t us = i->ms * 1000 + i->rest_us, ns;

    switch (to) {
    case TYPE_TIMESTAMP_S:
        ret->real = i->rest_us == 0 ? (double)i->ms / 1e3 : (double)us / 1e6;
        return EXPR_OK;
    case TYPE_TIMESTAMP_US:
        ret->bigint = us;
        return EXPR_OK;
    case TYPE_TIMESTAMP_NS:
        if (__builtin_mul_overflow(us, (int64_t)1000, &ns) ||
            __builtin_add_overflow(ns, i->rest_ns, &ns))
            return EXPR_OVERFLOW;
        ret->bigint = ns;
        return EXPR_OK;
    default: /* TYPE_TIMESTAMP, TYPE_TIMESTAMP_MS */
        ret->bigint = i->ms;
        return EXPR_OK;
    }
}

static enum expr_outcome change_unit(const struct value *v, enum value_type from,
                                     enum value_type to, struct value *ret)
{
    struct instant i;

    return read_instant(v, from, &i) ? write_instant(&i, to, ret) : EXPR_BAD_CAST;
}

/* A plain number is taken as one of the type's unit. */
static enum expr_outcome take_as(const struct value *v, enum value_type to, struct value *ret)
{
    enum expr_outcome o = convert(v, ret);
    int64_t ms;

    if (o == EXPR_OK && !value_instant_ms(to, ret, &ms))
        return EXPR_BAD_CAST;
    return o;
}

enum expr_outcome expr_cast(const struct value *v, enum value_type from, enum value_type to,
                            struct expr_memory *m, struct value *ret)
{
    assert(!v->null && v->type == value_type_class(from));
    assert(expr_cast_exists(from, to));
    *ret = (struct value){.type = value_type_class(to)};
    if (from == to) {
        *ret = *v;
        return EXPR_OK;
    }
    if (to == TYPE_STRING) {
        text_from(v, m, ret);
        return EXPR_OK;
    }
    if (from == TYPE_STRING)
        return read_text(v->text, to, ret);
    if (is_instant(from) && is_instant(to))
        return change_unit(v, from, to, ret);
    if (is_instant(to) && is_number(from))
        return take_as(v, to, ret);
    return convert(v, ret);
}
