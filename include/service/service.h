/*
 * service/service: what the service manager is told (sd_notify), if there is one.
 *
 * interface.md section 6. The watchdog is pinged from the event loop only: a loop
 * that hangs is seen.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdint.h>

void service_ready(void);
void service_stopping(void);
void service_reloading(void); /* followed by service_ready() */
void service_status(const char *line);
void service_watchdog(void);
/* More time to stop, because results still move. */
void service_extend_timeout(int64_t ms);

/* How often service_watchdog() is to be called; 0: never. */
int64_t service_watchdog_interval_ms(void);

#endif
