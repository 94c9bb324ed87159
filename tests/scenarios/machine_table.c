#include "machine_parts.h"

static void start(struct machine *m)
{
    machine_drop(m);
    buf_clear(&m->table.fault);
    m->table.made = engine_table_new(m->engine);
    m->table.rows = 0;
}

/* The rows of the batch, with as much fuel at a time as there is for a pull. */
static void add_batch(struct machine *m, struct batch *b)
{
    struct machine_table *t = &m->table;
    size_t at = 0;
    while (at < b->count && buf_length(&t->fault) == 0 && m->fault == NULL) {
        int64_t fuel = m->pull_fuel;
        size_t n = engine_table_add(m->engine, t->made, b, at, &fuel, &t->fault);
        if (n > b->count - at || (n == 0 && fuel == m->pull_fuel && buf_length(&t->fault) == 0))
            break_promise(m, "%zu rows of %zu go into a table, and nothing says why", n,
                          b->count - at);
        at += n;
        t->rows += n;
        look_at_state(m, m->config->plan->state_bytes_max);
    }
}

static void add_all(struct machine *m, struct bytes text)
{
    struct decoder *d = decoder_new(&m->config->input[SIDE_RIGHT].format);
    struct batch *b = &m->feed[SIDE_RIGHT].batch;
    size_t done = 0;
    b->feed = NULL;
    do {
        done += decoder_read(d, text.p + done, text.n - done, INPUT_ENDED, b);
        add_batch(m, b);
    } while (b->count > 0 && buf_length(&m->table.fault) == 0 && m->fault == NULL);
    decoder_free(d);
}

bool machine_load(struct machine *m, struct bytes text)
{
    struct books before = *engine_books(m->engine);
    start(m);
    add_all(m, text);
    look_at_unchanged_books(m, &before);
    if (buf_length(&m->table.fault) == 0)
        return true;
    machine_drop(m);
    look_at_unchanged_books(m, &before);
    machine_try_again(m);
    return false;
}

void machine_swap(struct machine *m)
{
    if (m->table.made == NULL) {
        break_promise(m, "there is no table to swap in");
        return;
    }
    engine_table_swap(m->engine, m->table.made, (struct stream_time){m->now_ms});
    m->table.made = NULL;
    look_at_books(m);
    machine_try_again(m);
}

void machine_drop(struct machine *m)
{
    if (m->table.made != NULL)
        engine_table_drop(m->engine, m->table.made);
    m->table.made = NULL;
}
