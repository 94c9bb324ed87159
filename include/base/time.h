/*
 * base/time: instants, dates and durations as text. No clock is read here.
 *
 * Instants are milliseconds since 1970-01-01T00:00:00Z without leap seconds;
 * they may be negative. Text is RFC 3339 (interface.md sections 2 and 3): a
 * space is allowed for the T, no zone means UTC, digits below the millisecond
 * are cut (towards the past: floor), years 0001 to 9999.
 */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define TIME_MS_MIN (-62135596800000LL) /* 0001-01-01T00:00:00.000Z */
#define TIME_MS_MAX 253402300799999LL   /* 9999-12-31T23:59:59.999Z */

/* Division that rounds down, and its remainder, which is never negative (b > 0). */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/* False: no RFC 3339 time, a date that there is not, or out of range. 60 as
 * second is refused. */
bool time_read_rfc3339(struct bytes text, int64_t *ret_ms);

#define TIME_TEXT_LENGTH 24 /* 2026-01-02T03:04:05.678Z */

/* Writes TIME_TEXT_LENGTH bytes at `to`, no NUL. `ms` within MIN..MAX. */
void time_write_rfc3339(int64_t ms, char *to);
void time_append_rfc3339(int64_t ms, struct buf *to);

/* Exactly of the form that time_write_rfc3339() writes, and a date that exists. */
bool time_is_canonical(struct bytes text);

/* `250ms 5s 10m 2h 1d`, sums such as `1h30m` (units in any order, each once),
 * a leading `-` if `negative_ok`. `0` alone is zero. False: not one, or above
 * 36500 d. */
bool duration_read(struct bytes text, bool negative_ok, int64_t *ret_ms);
/* A sum that reads back the same, largest units first, each as often as it goes:
 * `1h30m` (also for 90m), `0s`, `-5s`. */
void duration_write(int64_t ms, struct buf *to);

/* `64K 4M 1G 512` (powers of 1024; also T; small letters too). False: not one, or
 * above INT64_MAX. */
bool size_read(struct bytes text, int64_t *ret_bytes);
/* With the largest unit that divides it: `64K`. `bytes` is not negative. */
void size_write(int64_t bytes, struct buf *to);

#endif
