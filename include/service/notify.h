/*
 * service/notify: what the service manager is told (sd_notify), if there is one.
 *
 * interface.md section 6. The watchdog is pinged from the event loop only: a loop
 * that hangs is seen.
 */
#ifndef SERVICE_NOTIFY_H
#define SERVICE_NOTIFY_H

#include <stdint.h>

void notify_ready(void);
void notify_stopping(void);
void notify_reloading(void); /* followed by notify_ready() */
void notify_status(const char *line);
void notify_watchdog(void);
/* More time to stop, because results still move. */
void notify_extend_timeout(int64_t ms);

/* How often notify_watchdog() is to be called; 0: never. */
int64_t notify_watchdog_interval_ms(void);

#endif
