/*
 * service/stop: the steps from running to stopped (enum daemon_step). interface.md section 6.
 */
#ifndef SERVICE_STOP_H
#define SERVICE_STOP_H

#include "service/daemon.h"

/* How long senders have to end after our half-close. */
#define STOP_ENDING_MS 5000
/* How long a reader may take no byte, or be absent, when we want to go. */
#define STOP_DRAINING_MS 10000
/* After which part of that the log says that we wait. */
#define STOP_TELL_MS 2000

/* TERM or INT has come; the second one ends at once. */
void stop_asked(struct daemon *d, const char *signal);

/* Once a second: what has a deadline. */
void stop_tick(struct daemon *d);

/* After each turn: what has none. */
void stop_turn(struct daemon *d);

/* The log's last word on each side: what became of its records. */
void stop_tell_books(const struct daemon *d);

#endif
