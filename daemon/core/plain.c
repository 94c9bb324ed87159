#include "core/plain.h"

#include "core/value.h"

#define INLINE static inline __attribute__((always_inline))

/* How far rows may go. */
static size_t end_of(const struct batch *b, size_t from, const struct window_log *log,
                     uint64_t number)
{
    return window_log_numbers(log, number + BATCH_ROWS) ? b->hashed : from;
}

/* A longer line, or a key further in. */
static __attribute__((noinline)) bool append_wide(struct window_log *log, const struct row *row,
                                                  struct bytes key, uint32_t hash, uint16_t flags,
                                                  int64_t time, uint32_t number_in_log)
{
    const struct record_parts parts = {
        .hash = hash,
        .body = row->line,
        .key = key,
        .flags = flags,
        .time = time,
    };

    if (key.p == NULL || !window_log_append_here(log, &parts, log->first_number + number_in_log))
        return false;
    log->undecided--; /* it is counted with the others */
    return true;
}

/* Inline, and so is what takes the parts: they never lie in memory. False: not a plain row, or
 * one that takes a new chunk. */
INLINE bool append(struct window_log *log, const struct row *row, struct bytes key, uint32_t hash,
                   uint16_t flags, int64_t time, uint32_t number_in_log)
{
    struct record_parts parts = {
        .hash = hash,
        .body = row->line,
        .key = key,
        .flags = flags,
        .time = time,
    };

    if (!row->verbatim) /* nor is it rejected */
        return false;
    parts.stride = record_plain_stride(&parts);
    if (parts.stride == 0)
        return append_wide(log, row, key, hash, flags, time, number_in_log);
    return window_log_append_plain(log, &parts, number_in_log);
}

INLINE size_t append_all(const struct batch *b, size_t from, size_t key_field, uint16_t flags,
                         int64_t time, struct window_log *log, uint64_t number)
{
    uint32_t number_in_log = (uint32_t)(number - log->first_number);
    size_t end = end_of(b, from, log, number), i = from;

    for (; i < end; i++) {
        const struct row *row = &b->rows[i];
        if (!append(log, row, batch_row_fields(b, row)[key_field], b->hashes[i], flags, time,
                    number_in_log++))
            break;
    }
    log->undecided += i - from;
    return i - from;
}

/* Most windows know to within 2^32 ms when a record was: for these the compiler makes a loop that
 * does not look at flags. */
size_t plain_append(const struct judge *j, enum side side, const struct batch *b, size_t from,
                    int64_t time, struct window_log *log, uint64_t number)
{
    size_t key_field = j->key_field[side];

    if (j->flags == RECORD_TIME32)
        return append_all(b, from, key_field, RECORD_TIME32, time, log, number);
    return append_all(b, from, key_field, j->flags, time, log, number);
}

/* --- event time --- */

static inline bool time_of(const struct row *row, struct bytes field, enum value_type type,
                           int64_t *ret_ms)
{
    if (row->reject != REJECT_NONE || field.p == NULL)
        return false;
    *ret_ms = value_time_ms(type, field);
    return true;
}

bool plain_time(const struct judge *j, enum side side, const struct batch *b, size_t i,
                int64_t *ret_ms)
{
    const struct expr *timestamp = j->plan->side[side].timestamp;
    const struct row *row = &b->rows[i];

    return time_of(row, batch_row_fields(b, row)[timestamp->field], timestamp->type, ret_ms);
}

size_t plain_append_timed(const struct judge *j, enum side side, const struct batch *b, size_t from,
                          int64_t time_from, int64_t time_below, struct window_log *log,
                          uint64_t number, int64_t *ret_highest)
{
    const struct expr *timestamp = j->plan->side[side].timestamp;
    const size_t key_field = j->key_field[side], time_field = timestamp->field;
    const enum value_type type = timestamp->type;
    uint32_t number_in_log = (uint32_t)(number - log->first_number);
    size_t end = end_of(b, from, log, number), i = from;
    int64_t highest = time_from, time;

    for (; i < end; i++) {
        const struct row *row = &b->rows[i];
        const struct bytes *fields = batch_row_fields(b, row);
        if (!time_of(row, fields[time_field], type, &time) || time < time_from ||
            time >= time_below ||
            !append(log, row, fields[key_field], b->hashes[i], j->flags, time, number_in_log++))
            break;
        highest = time > highest ? time : highest;
    }
    log->undecided += i - from;
    *ret_highest = highest;
    return i - from;
}
