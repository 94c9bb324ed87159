#include "service/notify.h"

#include <systemd/sd-daemon.h>

#include "base/buf.h"
#include "base/mem.h"
#include "io/clock.h"

void notify_ready(void)
{
    sd_notify(0, "READY=1");
}

void notify_stopping(void)
{
    sd_notify(0, "STOPPING=1");
}

void notify_reloading(void)
{
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)clock_mono_us());
}

/* A line end in the text would be taken for another assignment. */
void notify_status(const char *line)
{
    char *text = mem_strdup(line);

    for (char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    sd_notifyf(0, "STATUS=%s", text);
    mem_free(text);
}

void notify_watchdog(void)
{
    sd_notify(0, "WATCHDOG=1");
}

void notify_extend_timeout(int64_t ms)
{
    sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%lld", (long long)ms * 1000);
}

int64_t notify_watchdog_interval_ms(void)
{
    uint64_t us = 0;

    if (sd_watchdog_enabled(0, &us) <= 0)
        return 0;
    return us / 2000 > 0 ? (int64_t)(us / 2000) : 1;
}
