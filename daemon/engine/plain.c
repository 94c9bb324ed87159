#include "engine/plain.h"

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

/* Times that go into the log; and, if they are the rows' own, the highest that did. */
struct span {
    int64_t from, below;
    int64_t highest;
};

/* `span` is NULL where all rows have the time `time`. What the log does not change is read once:
 * for all that the compiler knows, a record may be written there. */
INLINE size_t append_all(const struct batch *b, size_t from, size_t key_field, uint16_t flags,
                         int64_t time, struct span *span, struct window_log *log, uint64_t number)
{
    const struct bytes *key = b->fields + from * b->field_count + key_field;
    const size_t end = end_of(b, from, log, number), field_count = b->field_count;
    uint32_t number_in_log = (uint32_t)(number - log->first_number);
    size_t i = from;

    for (; i < end; i++, key += field_count) {
        if (span != NULL) {
            time = b->times[i];
            if (time < span->from || time >= span->below)
                break;
        }
        if (!append(log, &b->rows[i], *key, b->hashes[i], flags, time, number_in_log++))
            break;
        if (span != NULL && time > span->highest)
            span->highest = time;
    }
    log->undecided += i - from;
    return i - from;
}

/* Most windows know to within 2^32 ms when a record was: for these the compiler makes a loop that
 * does not look at flags. */
INLINE size_t append_by_flags(const struct judge *j, enum side side, const struct batch *b,
                              size_t from, int64_t time, struct span *span, struct window_log *log,
                              uint64_t number)
{
    size_t key_field = j->key_field[side];

    if (j->flags == RECORD_TIME32)
        return append_all(b, from, key_field, RECORD_TIME32, time, span, log, number);
    return append_all(b, from, key_field, j->flags, time, span, log, number);
}

size_t plain_append(const struct judge *j, enum side side, const struct batch *b, size_t from,
                    int64_t time, struct window_log *log, uint64_t number)
{
    return append_by_flags(j, side, b, from, time, NULL, log, number);
}

size_t plain_append_timed(const struct judge *j, enum side side, const struct batch *b, size_t from,
                          int64_t time_from, int64_t time_below, struct window_log *log,
                          uint64_t number, int64_t *ret_highest)
{
    struct span span = {time_from, time_below, time_from};
    size_t n = append_by_flags(j, side, b, from, 0, &span, log, number);

    *ret_highest = span.highest;
    return n;
}
