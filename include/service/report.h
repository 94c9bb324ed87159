/*
 * service/report: what a running join tells about itself: /metrics, /status, STATUS.
 *
 * Names and labels are fixed by interface.md section 5; each metric's type and
 * HELP stand with it in one table.
 */
#ifndef SERVICE_REPORT_H
#define SERVICE_REPORT_H

#include "base/buf.h"
#include "service/daemon.h"

void report_metrics(const struct daemon *d, struct buf *to);     /* Prometheus text */
void report_status_json(const struct daemon *d, struct buf *to); /* one line, no LF */
void report_status_line(const struct daemon *d, struct buf *to); /* for people: rates */

extern const char report_page[]; /* the page at `/`, which shows /status live */

#endif
