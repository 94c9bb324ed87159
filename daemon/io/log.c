#include "io/log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/time.h"
#include "io/clock.h"

#define LIMIT_PER_SECOND 3

static const struct {
    const char *word;
    int priority; /* syslog's */
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", 3},
    [LOG_LEVEL_WARNING] = {"warning", 4},
    [LOG_LEVEL_INFO] = {"info", 6},
    [LOG_LEVEL_DEBUG] = {"debug", 7},
};

static enum log_level level_most = LOG_LEVEL_INFO;
static bool for_journal;

void log_init(enum log_level most)
{
    level_most = most;
    for_journal = getenv("JOURNAL_STREAM") != NULL;
}

static void append_printable(struct buf *line, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            buf_printf(line, "\\x%02x", c);
        else
            buf_append_char(line, *text);
    }
}

static void write_line(enum log_level level, const char *format, va_list args)
{
    struct buf message = BUF_EMPTY, line = BUF_EMPTY;
    ssize_t written;

    if (for_journal) {
        buf_printf(&line, "<%d>", levels[level].priority);
    } else {
        time_append_rfc3339(clock_wall_ms(), &line);
        buf_printf(&line, " %s ", levels[level].word);
    }
    buf_vprintf(&message, format, args);
    append_printable(&line, buf_text(&message));
    buf_append_char(&line, '\n');
    written = write(STDERR_FILENO, buf_data(&line), buf_length(&line));
    (void)written; /* there is nobody left to tell */
    buf_done(&message);
    buf_done(&line);
}

#define LOG_FUNCTION(name, level, least)                                                           \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        if (level_most < (least))                                                                  \
            return;                                                                                \
        va_start(args, format);                                                                    \
        write_line(level, format, args);                                                           \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO, LOG_LEVEL_INFO)
LOG_FUNCTION(log_ready, LOG_LEVEL_INFO, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG, LOG_LEVEL_DEBUG)

static bool limit_allows(struct log_limit *l)
{
    int64_t second = clock_mono().ms / 1000;

    if (second != l->second) {
        l->second = second;
        l->written = 0;
    }
    if (l->written == LIMIT_PER_SECOND) {
        l->suppressed++;
        return false;
    }
    l->written++;
    return true;
}

void log_limited(struct log_limit *l, enum log_level level, const char *format, ...)
{
    assert(level <= LOG_LEVEL_DEBUG);
    va_list args;

    if (level > level_most || !limit_allows(l))
        return;
    va_start(args, format);
    write_line(level, format, args);
    va_end(args);
}

static void write_plain(enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(level, format, args);
    va_end(args);
}

void log_limit_tell(struct log_limit *l, enum log_level level, const char *about)
{
    if (l->suppressed == 0 || level > level_most)
        return;
    write_plain(level, "%llu more message%s about %s", (unsigned long long)l->suppressed,
                l->suppressed == 1 ? "" : "s", about);
    l->suppressed = 0;
}
