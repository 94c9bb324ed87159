#include "config/report.h"

#include <assert.h>

#include "base/buf.h"

void report_vat(const struct report *r, struct place p, const char *subject, const char *format,
                va_list args)
{
    struct buf message = BUF_EMPTY;

    assert(r->path != NULL && r->diag != NULL);
    assert(p.line >= 0 && (p.line == 0 || p.column > 0));
    if (p.line > 0)
        buf_printf(&message, "%s:%d:%d: ", r->path, p.line, p.column);
    else
        buf_printf(&message, "%s: ", r->path);
    if (subject[0] != '\0')
        buf_printf(&message, "%s: ", subject);
    buf_vprintf(&message, format, args);
    diag_add_at(r->diag, p.line, p.column, "%s", buf_text(&message));
    buf_done(&message);
}

void report_at(const struct report *r, struct place p, const char *subject, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_vat(r, p, subject, format, args);
    va_end(args);
}
