#include "expect.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

#define SHOWN_MAX 40 /* rows of each list in a message */

static bool row_matches(const struct expected_row *e, const struct machine_row *r)
{
    if (e->kind != r->kind || strcmp(e->text, r->text) != 0)
        return false;
    if (e->records != NULL && strcmp(e->records, r->records) != 0)
        return false;
    return !e->windowed || (e->window_start == r->window_start && e->window_end == r->window_end);
}

/* The end of the group (or, if `whole`, of the section) that starts at `at`. */
static size_t end_of(const struct expected_row *e, size_t count, size_t at, bool whole)
{
    size_t end = at;
    while (end < count && e[end].section == e[at].section && (whole || e[end].group == e[at].group))
        end++;
    return end;
}

/* Finds the longest group of the section [from, to), not yet used, that stands at `rows`. A
 * shorter one may be the beginning of a longer one where rows are equal. */
static bool find_group(const struct expected_row *e, size_t from, size_t to, const bool *used,
                       const struct machine_row *rows, size_t count, size_t *ret_at,
                       size_t *ret_length)
{
    size_t best = 0;
    for (size_t at = from, end; at < to; at = end) {
        end = end_of(e, to, at, false);
        size_t n = end - at, same = 0;
        if (used[at] || n > count || n <= best)
            continue;
        while (same < n && row_matches(&e[at + same], &rows[same]))
            same++;
        if (same == n) {
            best = n;
            *ret_at = at;
        }
    }
    *ret_length = best;
    return best > 0;
}

static void show_row(enum result_kind kind, bool windowed, int64_t start, int64_t end,
                     const char *text, const char *records, struct buf *to)
{
    buf_append_text(to, "\n    ");
    if (windowed && start == RESULT_NO_WINDOW && end == RESULT_NO_WINDOW)
        buf_append_text(to, "no window: ");
    else if (windowed)
        buf_printf(to, "[%" PRId64 ",%" PRId64 ") ", start, end);
    buf_printf(to, "%s %s", machine_kind_word(kind), text);
    if (records != NULL)
        buf_printf(to, "  (%s)", records);
}

static void show_difference(const struct expected_row *e, size_t expected_count, const bool *used,
                            const struct machine_row *rows, size_t count, size_t at, struct buf *to)
{
    buf_printf(to, "after %zu rows as expected, not yet seen:", at);
    bool records = expected_count > 0 && e[0].records != NULL;
    size_t shown = 0;
    for (size_t i = 0; i < expected_count && shown < SHOWN_MAX; i++)
        if (!used[i]) {
            show_row(e[i].kind, e[i].windowed, e[i].window_start, e[i].window_end, e[i].text,
                     e[i].records, to);
            shown++;
        }
    buf_append_text(to, shown == 0 ? "\n    nothing\n  got:" : "\n  got:");
    for (size_t i = at; i < count && i < at + SHOWN_MAX; i++)
        show_row(rows[i].kind, true, rows[i].window_start, rows[i].window_end, rows[i].text,
                 records ? rows[i].records : NULL, to);
    buf_append_text(to, at == count ? "\n    nothing" : "");
}

bool expect_rows(const struct expected_row *expected, size_t expected_count,
                 const struct machine_row *rows, size_t count, struct buf *ret_why)
{
    bool *used = mem_alloc_zeroed(expected_count + 1, sizeof(*used));
    size_t at = 0, from = 0;
    bool fine = true;
    while (fine && from < expected_count) {
        size_t to = end_of(expected, expected_count, from, true), group = 0, length = 0;
        size_t section_end = at + (to - from);
        while (fine && at < section_end) {
            fine = at < count &&
                   find_group(expected, from, to, used, rows + at, count - at, &group, &length);
            memset(used + group, true, fine ? length : 0);
            at += fine ? length : 0;
        }
        from = to;
    }
    fine = fine && at == count;
    if (!fine)
        show_difference(expected, expected_count, used, rows, count, at, ret_why);
    mem_free(used);
    return fine;
}
