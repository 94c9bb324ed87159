#include "machine_parts.h"

/* A walk that never comes to its end is a fault, not a test that hangs. */
#define PULLS_MAX 2000000

const char *machine_kind_word(enum result_kind kind)
{
    return kind == RESULT_FAILED ? "failed" : result_kind_word(kind);
}

static void append_record(struct machine *m, const struct result *r, enum side side, struct buf *to)
{
    const struct record_form *form = &m->config->plan->side[side].form;
    if (r->record[side] == NULL) {
        buf_append_text(to, "nobody");
        return;
    }
    struct bytes *fields = mem_alloc(form->field_count * sizeof(*fields));
    record_fields(r->record[side], form, fields);
    for (size_t i = 0; i < form->field_count; i++) {
        buf_append_text(to, i == 0 ? "" : "|");
        buf_append_bytes(to, fields[i].p == NULL ? BYTES_LIT("~") : fields[i]);
    }
    mem_free(fields);
}

/* Its row, if it has one; else the engine is told that it could not be made. */
static enum result_kind make_row(struct machine *m, const struct result *r, struct buf *text)
{
    if (r->kind == RESULT_FAILED) {
        m->failed++;
        return RESULT_FAILED;
    }
    if (encoder_results(m->encoder, r, 1, SIZE_MAX, text) == 0) {
        if (buf_length(text) > 0)
            break_promise(m, "a row that cannot be made has begun");
        if (fires_aside(m))
            aside_reject_result(m, r);
        else
            engine_reject_result(m->engine, r);
        m->failed++;
        return RESULT_FAILED;
    }
    m->seen[r->kind]++;
    size_t length = buf_length(text);
    if (length == 0 || buf_data(text)[length - 1] != '\n')
        break_promise(m, "a row does not end with LF");
    return r->kind;
}

static void keep_row(struct machine *m, const struct result *r)
{
    struct buf text = BUF_EMPTY, records = BUF_EMPTY;
    enum result_kind kind = make_row(m, r, &text);
    append_record(m, r, SIDE_LEFT, &records);
    buf_append_text(&records, " & ");
    append_record(m, r, SIDE_RIGHT, &records);

    m->rows = list_room(m->rows, m->row_count, &m->row_capacity, sizeof(*m->rows));
    size_t length = buf_length(&text);
    m->rows[m->row_count++] = (struct machine_row){
        .kind = kind,
        .window_start = r->window_start,
        .window_end = r->window_end,
        .text = kind == RESULT_FAILED ? mem_strdup(buf_text(&records))
                                      : mem_strndup(buf_data(&text), length == 0 ? 0 : length - 1),
        .records = mem_strdup(buf_text(&records)),
    };
    buf_done(&text);
    buf_done(&records);
}

/* The results are made into rows before the engine is asked anything else. */
size_t machine_pull_into(struct machine *m, struct result *results, size_t max, int64_t fuel)
{
    bool had_work = engine_has_work(m->engine);
    size_t n = fires_aside(m) ? aside_pull(m, results, max, &fuel)
                              : engine_pull(m->engine, results, max, &fuel);
    if (n > max)
        break_promise(m, "%zu results where %zu were asked for", n, max);
    if (n > 0 && !had_work)
        break_promise(m, "results came where there was no work");
    for (size_t i = 0; i < n; i++) {
        look_at_result(m, &results[i]);
        keep_row(m, &results[i]);
    }
    if (n == 0 && fuel > 0 && engine_has_work(m->engine))
        break_promise(m, "no results with fuel left, and yet there is work");
    look_at_books(m);
    return n;
}

size_t machine_pull(struct machine *m, size_t max, int64_t fuel)
{
    struct result *results = mem_alloc(max * sizeof(*results));
    size_t n = machine_pull_into(m, results, max, fuel);
    mem_free(results);
    machine_try_again(m);
    return n;
}

void machine_drain(struct machine *m, size_t max, int64_t fuel)
{
    for (long pulls = 0; engine_has_work(m->engine) && m->fault == NULL; pulls++) {
        machine_pull(m, max, fuel);
        if (pulls > PULLS_MAX)
            break_promise(m, "the walk has no end");
    }
    look_at_the_end_of_work(m);
    engine_trim(m->engine);
}

void machine_forget_rows(struct machine *m)
{
    for (size_t i = 0; i < m->row_count; i++) {
        mem_free(m->rows[i].text);
        mem_free(m->rows[i].records);
    }
    m->row_count = 0;
}
