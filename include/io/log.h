/*
 * io/log: one line each on standard error.
 *
 * Under systemd (JOURNAL_STREAM) a line carries the priority as `<N>`, no time
 * and no level word; otherwise `2026-01-02T03:04:05.678Z level message`.
 * interface.md section 1. What comes from outside is made printable.
 */
#ifndef IO_LOG_H
#define IO_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above `most` are left out. */
void log_init(enum log_level most);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_ready(const char *format, ...) __attribute__((format(printf, 1, 2))); /* however quiet */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lines of one kind that may come by the thousand: a few a second are written,
 * the rest is counted and told with the next one, or by log_limit_tell(). */
struct log_limit {
    int64_t second;      /* of the monotonic clock */
    unsigned written;    /* in that second */
    uint64_t suppressed; /* since the last line */
};

void log_limited(struct log_limit *l, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Says how many lines were left out, if any: `3 more messages about bad records`. */
void log_limit_tell(struct log_limit *l, enum log_level level, const char *about);

#endif
