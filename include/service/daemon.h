/*
 * service/daemon: a join that runs: the loop, its signals and ticks.
 */
#ifndef SERVICE_DAEMON_H
#define SERVICE_DAEMON_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "flow/flow.h"
#include "flow/stop.h"
#include "watch/watch.h"

#define DAEMON_SIGNALS 4

#define DAEMON_MAGIC 0x4d454144u /* DAEM */

struct daemon {
    uint32_t magic;
    struct flow flow;
    struct stop stop;
    struct watch watch;
    struct event signals[DAEMON_SIGNALS], tick, due, watchdog;
    int due_fd;     /* the timer of `due` */
    int64_t due_ms; /* what it is set to; INT64_MAX: not set */
    unsigned ticks;
    bool reloading;             /* HUP: the table is read before it is done */
    bool reload_queued;         /* HUP came while the table was read */
    bool not_reopened[OUTPUTS]; /* files that could not be opened anew at the last HUP */
};

/* Runs the join until it ends. Returns the exit status. */
int daemon_run(struct daemon *d, const struct config *config);

#endif
