#include "config/words_inner.h"

#include "base/time.h"
#include "config/wrap.h"
#include "lang/expr_lexer.h"

/* --- what words are made of --- */

#define EXPRESSION_MAX 200 /* bytes: a longer one is no help where it is only mentioned */

bool words_expression(const struct expr *e, struct buf *to)
{
    struct buf text = BUF_EMPTY;
    bool fits;

    expr_write(e, &text);
    fits = buf_length(&text) <= EXPRESSION_MAX;
    if (fits)
        buf_append_bytes(to, buf_bytes(&text));
    buf_done(&text);
    return fits;
}

void words_end(struct buf *text, struct buf *to)
{
    if (buf_length(text) == 0)
        return;
    buf_append_text(to, "; ");
    wrap_words(to, buf_bytes(text), 2, ";   ");
    buf_append_char(to, '\n');
    buf_clear(text);
}

/* --- ends --- */

/* What sockets are called by. */
static void append_name(const struct endpoint *e, struct buf *to)
{
    switch (e->family) {
    case FAMILY_TCP:
        buf_append_text(to, e->text);
        break;
    case FAMILY_UNIX:
        buf_printf(to, "the unix socket %s", e->path);
        break;
    case FAMILY_SYSTEMD:
        buf_printf(to, "the socket %s of systemd", e->passed_name);
        break;
    }
}

static void append_endpoint(const struct endpoint *e, bool input, struct buf *to)
{
    switch (e->kind) {
    case ENDPOINT_NONE:
        break;
    case ENDPOINT_LISTEN:
        buf_append_text(to, "connections to ");
        append_name(e, to);
        break;
    case ENDPOINT_CONNECT:
        buf_append_text(to, "a connection that joind makes to ");
        append_name(e, to);
        break;
    case ENDPOINT_FILE:
        buf_printf(to, "the file %s", e->path);
        break;
    case ENDPOINT_STANDARD:
        buf_append_text(to, input ? "standard input" : "standard output");
        break;
    }
}

/* --- inputs --- */

static void append_format(const struct input_format *f, struct buf *to)
{
    bool lines = f->framing == FRAMING_LINE && f->envelope == ENVELOPE_NONE;

    buf_append_text(to, f->kind == INPUT_CSV ? "CSV" : lines ? "JSON lines" : "JSON");
    if (f->envelope == ENVELOPE_SYSLOG)
        buf_append_text(to, " in syslog messages");
    if (f->framing == FRAMING_OCTET)
        buf_append_text(to, ", each with the count of its bytes before it,");
    else if (f->framing == FRAMING_AUTO)
        buf_append_text(to, ", with or without the count of its bytes before each,");
}

static void append_again(const struct config *c, const struct endpoint *e, struct buf *to)
{
    if (e->kind != ENDPOINT_CONNECT)
        return;
    buf_append_text(to, plan_traits(c->plan)->bounded ? ", tried until there is one"
                                                      : ", and makes again whenever it ends");
}

static void append_side(const struct config *c, enum side side, struct buf *to)
{
    const struct plan_side *p = &c->plan->side[side];

    buf_printf(to, "%s: ", p->schema.name);
    append_format(&c->input[side].format, to);
    buf_append_text(to, " from ");
    append_endpoint(&c->input[side].endpoint, true, to);
    append_again(c, &c->input[side].endpoint, to);
    if (p->where == NULL)
        return;
    buf_append_text(to, ", only where ");
    if (!words_expression(p->where, to))
        buf_append_text(to, "its condition is true");
}

/* --- outputs --- */

/* Of results little waits here: most stays in state. */
static void append_wait(const struct output_config *o, bool results, struct buf *to)
{
    if (results) {
        buf_append_text(to, "they wait, and so do the inputs once no more can be held");
        return;
    }
    buf_append_text(to, "up to ");
    size_write(o->buffer_bytes, to);
    buf_append_text(to, " wait, and then the inputs do");
}

static void append_absent(const struct output_config *o, bool results, struct buf *to)
{
    buf_append_text(to, "; while there is none, ");
    if (o->absent == ABSENT_WAIT)
        append_wait(o, results, to);
    else
        buf_append_text(to, "they are counted, and discarded");
}

static void append_slow(const struct output_config *o, struct buf *to)
{
    switch (o->slow) {
    case SLOW_WAIT:
        buf_append_text(to, "; all wait for one that does not read");
        break;
    case SLOW_DISCONNECT:
        buf_append_text(to, "; one that does not read is disconnected");
        break;
    case SLOW_DISCARD:
        buf_append_text(to, "; what one does not read is counted, and discarded");
        break;
    }
}

static void append_patience(const struct output_config *o, bool results, struct buf *to)
{
    if (o->endpoint.kind == ENDPOINT_LISTEN) {
        append_absent(o, results, to);
        append_slow(o, to);
    } else if (o->endpoint.kind == ENDPOINT_CONNECT) {
        buf_append_text(to, ", and makes again whenever it ends; without it, ");
        append_wait(o, results, to);
    }
}

static void append_output(const char *what, const struct config *c, enum output_id id,
                          struct buf *to)
{
    const struct output_config *o = &c->output[id];

    if (o->endpoint.kind == ENDPOINT_NONE)
        return;
    buf_printf(to, "%s: %s to ", what, o->format.kind == OUTPUT_JSON ? "JSON lines" : "CSV");
    append_endpoint(&o->endpoint, false, to);
    append_patience(o, id == OUTPUT_RESULTS, to);
}

static void append_columns(const struct expr_list *select, struct buf *to)
{
    buf_append_text(to, "columns: ");
    for (size_t i = 0; i < select->count; i++) {
        const struct expr_item *item = &select->items[i];

        if (i > 0)
            buf_append_text(to, ", ");
        if (item->name[0] != '\0')
            buf_append_text(to, item->name);
        else if (!words_expression(item->expr, to))
            buf_append_text(to, "an expression");
    }
}

static void append_http(const struct endpoint *e, struct buf *to)
{
    if (e->kind == ENDPOINT_NONE)
        return;
    buf_append_text(to, "status page, metrics and health: HTTP on ");
    append_name(e, to);
}

/* --- all --- */

void words_of_ends(const struct config *c, struct buf *to)
{
    struct buf text = BUF_EMPTY;

    append_side(c, SIDE_LEFT, &text);
    words_end(&text, to);
    append_side(c, SIDE_RIGHT, &text);
    words_end(&text, to);
    append_output("results", c, OUTPUT_RESULTS, &text);
    words_end(&text, to);
    append_columns(&c->output[OUTPUT_RESULTS].format.select, &text);
    words_end(&text, to);
    append_output("late records", c, OUTPUT_LATE, &text);
    words_end(&text, to);
    append_output("rejected records", c, OUTPUT_REJECTS, &text);
    words_end(&text, to);
    append_http(&c->http, &text);
    words_end(&text, to);
    buf_done(&text);
}
