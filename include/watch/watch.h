/*
 * watch/watch: a running join, looked at once a second: its rates, its books, what holds it up.
 *
 * What it finds is for /metrics, /status, /healthz and STATUS (watch/metrics, watch/status); what
 * people have to know at once goes to the log, once.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "flow/flow.h"
#include "flow/stop.h"
#include "watch/http.h"

#define WATCH_MAGIC 0x48435457u /* WTCH */

struct watch {
    uint32_t magic;
    struct flow *flow; /* not owned, as the next one */
    const struct stop *stop;
    struct http http;
    int64_t started_wall_ms, started_mono_ms;
    uint64_t received_before[SIDES];
    double rate[SIDES];              /* records a second, over the last tick */
    uint64_t turns;                  /* of the loop ... */
    int64_t turn_cpu_max_us, cpu_us; /* ... the longest, and the CPU time by the last one's end */
    bool unbalanced;                 /* the books did not balance: said once */
    bool absent_told;                /* the log has that results wait for a subscriber */
    bool hold_told;                  /* ... that inputs are held back */
    bool stuck_told;                 /* ... and that this cannot end */
};

void watch_init(struct watch *w, struct flow *f, const struct stop *s);

/* The loop begins now. */
void watch_begin(struct watch *w);
/* After each turn of it. */
void watch_turn(struct watch *w);
/* Once a second. */
void watch_tick(struct watch *w);

/* Nothing came since the last tick. */
bool watch_is_quiet(const struct watch *w);

/* Not healthy: true, and the reason is appended, one line without its end. */
bool watch_trouble(const struct watch *w, struct buf *ret_reason);

#endif
