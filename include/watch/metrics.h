/*
 * watch/metrics: /metrics, as Prometheus reads it.
 *
 * Names and labels are fixed by interface.md section 5; each metric's type and
 * HELP stand with it in one table.
 */
#ifndef WATCH_METRICS_H
#define WATCH_METRICS_H

#include "base/buf.h"
#include "watch/watch.h"

void metrics_write(const struct watch *w, struct buf *to);

#endif
