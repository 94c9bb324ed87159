#include "check_rows.h"

#include <string.h>

#include "base/mem.h"
#include "scenarios/expect.h"

static enum result_kind kind_of(enum ref_kind kind)
{
    switch (kind) {
    case REF_PAIR:
        return RESULT_PAIR;
    case REF_PADDED_LEFT:
        return RESULT_LEFT;
    case REF_PADDED_RIGHT:
        return RESULT_RIGHT;
    case REF_SEMI_ROW:
        return RESULT_SEMI;
    case REF_ANTI_ROW:
        return RESULT_ANTI;
    case REF_FAILED:
        return RESULT_FAILED;
    }
    return RESULT_PAIR;
}

static struct expected_row expected_of(const struct scene *s, const struct ref_result *r)
{
    struct buf text = BUF_EMPTY, records = BUF_EMPTY;
    scene_records_text(s, r, &records);
    bool fine = r->kind != REF_FAILED && scene_row_text(s, r, &text);
    struct expected_row row = {
        .kind = fine ? kind_of(r->kind) : RESULT_FAILED,
        .section = (size_t)r->section,
        .group = (size_t)r->group,
        .windowed = r->kind != REF_FAILED && s->plan.match <= REF_SESSION,
        .window_start = r->windowed ? r->start : RESULT_NO_WINDOW,
        .window_end = r->windowed ? r->end : RESULT_NO_WINDOW,
        .text = mem_strdup(fine ? buf_text(&text) : buf_text(&records)),
        .records = mem_strdup(buf_text(&records)),
    };
    buf_done(&text);
    buf_done(&records);
    return row;
}

static bool is_same_row(const struct expected_row *e, const struct machine_row *row)
{
    return e->kind == row->kind && strcmp(e->text, row->text) == 0 &&
           strcmp(e->records, row->records) == 0;
}

/* Batch: rows that are padded at the end come in order within their key (section 7), but nothing
 * says that those of a key come together. They are brought together here: a row may pass rows of
 * other keys alone. Where that does not do they stay as they are. */
static void bring_together(struct machine_row *rows, const struct expected_row *expected,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        while (at < count && !is_same_row(&expected[i], &rows[at]))
            at++;
        for (size_t j = i + 1; j < count && expected[j].group == expected[i].group; j++)
            for (size_t k = i; k < at && at < count; k++)
                if (is_same_row(&expected[j], &rows[k]))
                    return;
        if (at == count)
            return;
        struct machine_row row = rows[at];
        memmove(rows + i + 1, rows + i, (at - i) * sizeof(*rows));
        rows[i] = row;
    }
}

/* All from the first padded right row on. */
static void bring_padded_together(const struct ref_result *results, size_t n,
                                  const struct expected_row *rows, struct machine *m)
{
    size_t first = 0;
    while (first < n && results[first].kind != REF_PADDED_RIGHT)
        first++;
    if (first < n && m->row_count == n)
        bring_together(m->rows + first, rows + first, n - first);
}

bool check_rows(const struct scene *s, const struct ref_result *results, size_t count,
                struct machine *m, struct buf *ret_why)
{
    struct expected_row *rows = mem_alloc(count * sizeof(*rows));
    for (size_t i = 0; i < count; i++)
        rows[i] = expected_of(s, &results[i]);
    if (s->plan.match == REF_BATCH)
        bring_padded_together(results, count, rows, m);
    bool same = expect_rows(rows, count, m->rows, m->row_count, ret_why);
    for (size_t i = 0; i < count; i++) {
        mem_free(rows[i].text);
        mem_free(rows[i].records);
    }
    mem_free(rows);
    return same;
}
