#include "engine/append.h"

#define INLINE static inline __attribute__((always_inline))

/* How far rows may go: the log's numbers have 32 bits. */
static size_t end_of(const struct batch *b, size_t from, const struct append_run *run)
{
    return window_log_numbers(run->log, run->number + BATCH_ROWS) ? b->count : from;
}

/* Any record: a long line, a computed key, a NULL one. */
static __attribute__((noinline)) bool append_any(const struct judge *j, const struct batch *b,
                                                 size_t i, int64_t time, struct window_log *log,
                                                 uint64_t number)
{
    const struct record_parts parts = judge_parts(j, b, i, number, time);

    return window_log_append_here(log, &parts, number);
}

/* Inline, and so is what takes the parts: they never lie in memory. False: the row takes a new
 * chunk. */
INLINE bool append(const struct judge *j, const struct batch *b, size_t i, struct bytes body,
                   struct bytes key, uint16_t flags, int64_t time, struct window_log *log,
                   bool behind, uint32_t number_in_log, uint64_t *plain)
{
    const struct record_parts parts = {
        .hash = b->hashes[i],
        .body = body,
        .key = key,
        .flags = flags,
        .time = time,
    };

    const uint32_t stride = record_plain_stride(&parts, behind);

    if (stride == 0)
        return append_any(j, b, i, time, log, log->first_number + number_in_log);
    if (!window_log_append_plain(log, &parts, stride, behind, number_in_log))
        return false;
    ++*plain;
    return true;
}

/* What the log does not change is read once: for all that the compiler knows, a record may be
 * written there. */
INLINE size_t append_all(const struct judge *j, const struct batch *b, size_t from, uint16_t flags,
                         bool timed, bool behind, struct append_run *run)
{
    const size_t end = end_of(b, from, run), key_step = b->key_step;
    const struct bytes *key = b->keys + from * key_step;
    const uint64_t span = run->below > run->from ? (uint64_t)run->below - (uint64_t)run->from : 0;
    const int64_t time_from = run->from;
    struct window_log *log = run->log;
    uint32_t number_in_log = (uint32_t)(run->number - log->first_number);
    int64_t time = run->time, highest = run->highest;
    uint64_t plain = 0;
    size_t i;

    for (i = from; i < end; i++, key += key_step, number_in_log++) {
        const uint8_t verdict = b->rows[i].verdict;

        if (timed) {
            time = b->times[i];
            if ((uint64_t)time - (uint64_t)time_from >= span && time != BATCH_NO_TIME)
                break;
        }
        if (verdict == VERDICT_TAKE) {
            if (!append(j, b, i, b->rows[i].line, *key, flags, time, log, behind, number_in_log,
                        &plain))
                break;
        } else if (verdict == VERDICT_TAKE_PACKED) {
            if (!append(j, b, i, b->bodies[i], *key, flags | RECORD_PACKED, time, log, behind,
                        number_in_log, &plain))
                break;
        } else {
            run->passed[verdict]++;
        }
        if (timed && time > highest)
            highest = time;
    }
    log->undecided += plain; /* the others are counted already */
    run->highest = highest;
    return i - from;
}

/* Most windows know to within 2^32 ms when a record was, and most keys are fields, which lie in the
 * body: for these the compiler makes a loop that does not look at flags. */
INLINE size_t append_by_flags(const struct judge *j, const struct batch *b, size_t from, bool timed,
                              struct append_run *run)
{
    if (b->keys == b->made_keys)
        return append_all(j, b, from, j->flags, timed, true, run);
    if (j->flags == RECORD_TIME32)
        return append_all(j, b, from, RECORD_TIME32, timed, false, run);
    return append_all(j, b, from, j->flags, timed, false, run);
}

size_t append_rows(const struct judge *j, const struct batch *b, size_t from,
                   struct append_run *run)
{
    return run->timed ? append_by_flags(j, b, from, true, run)
                      : append_by_flags(j, b, from, false, run);
}
