/*
 * watch/pages: what is answered over HTTP: the page, /status, /metrics and /healthz.
 */
#ifndef WATCH_PAGES_H
#define WATCH_PAGES_H

#include "config/config.h"
#include "watch/watch.h"

/* False: an error is logged. */
bool pages_open(struct watch *w, const struct endpoint *e);

#endif
