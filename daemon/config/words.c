#include "config/words.h"

#include "base/time.h"
#include "config/wrap.h"
#include "core/expr_lexer.h"

static const char *name_of(const struct config *c, enum side side)
{
    return c->plan->side[side].schema.name;
}

/* With its side in front, as a reader wants it who does not know whose it is. */
static void append_key(const struct plan *p, enum side side, size_t item, struct buf *to)
{
    const struct expr *e = p->side[side].key.items[item].expr;
    const struct schema *schema = &p->side[side].schema;

    expr_write_field(schema->name, schema->fields[e->field].name, to);
}

static void append_condition(const struct plan *p, struct buf *to)
{
    size_t count = p->side[SIDE_LEFT].key.count;

    if (count == 0)
        buf_append_text(to, ", each record with each of the other side");
    for (size_t i = 0; i < count; i++) {
        buf_append_text(to, i == 0 ? " on " : " and ");
        append_key(p, SIDE_LEFT, i, to);
        buf_append_text(to, " = ");
        append_key(p, SIDE_RIGHT, i, to);
    }
    if (p->on != NULL) {
        buf_append_text(to, count == 0 ? " where " : " and ");
        expr_write(p->on, to);
    }
}

static void append_windows(const struct plan *p, struct buf *to)
{
    buf_append_text(to, ", in windows of ");
    duration_write(p->size_ms, to);
    buf_append_text(to, " of processing time, aligned to the epoch");
    if (p->offset_ms == 0)
        return;
    buf_append_text(to, p->offset_ms > 0 ? " plus " : " minus ");
    duration_write(p->offset_ms > 0 ? p->offset_ms : -p->offset_ms, to);
}

/* Who comes out without a partner. */
static void append_fates(const struct config *c, struct buf *to)
{
    const char *left = name_of(c, SIDE_LEFT), *right = name_of(c, SIDE_RIGHT);

    switch (c->plan->type) {
    case JOIN_INNER:
        buf_append_text(to, "pairs are written; records without a partner are not");
        break;
    case JOIN_LEFT:
        buf_printf(to, "pairs are written, and with NULLs records of %s without a partner", left);
        break;
    case JOIN_RIGHT:
        buf_printf(to, "pairs are written, and with NULLs records of %s without a partner", right);
        break;
    case JOIN_FULL:
        buf_append_text(to, "pairs are written, and with NULLs records without a partner");
        break;
    case JOIN_SEMI:
        buf_printf(to, "records of %s that have a partner are written, each once", left);
        break;
    case JOIN_ANTI:
        buf_printf(to, "records of %s that have no partner are written", left);
        break;
    }
}

static void append_endpoint(const struct endpoint *e, bool input, struct buf *to)
{
    switch (e->kind) {
    case ENDPOINT_NONE:
        break;
    case ENDPOINT_LISTEN:
        buf_printf(to, "connections to %s", e->text);
        break;
    case ENDPOINT_FILE:
        buf_printf(to, "the file %s", e->path);
        break;
    case ENDPOINT_STANDARD:
        buf_append_text(to, input ? "standard input" : "standard output");
        break;
    }
}

static void append_side(const struct config *c, enum side side, struct buf *to)
{
    const struct plan_side *p = &c->plan->side[side];

    buf_printf(to, "%s: CSV from ", p->schema.name);
    append_endpoint(&c->input[side].endpoint, true, to);
    if (p->where != NULL) {
        buf_append_text(to, ", only where ");
        expr_write(p->where, to);
    }
}

static void append_output(const char *what, const struct output_config *o, struct buf *to)
{
    if (o->endpoint.kind == ENDPOINT_NONE)
        return;
    buf_printf(to, "%s: %s to ", what, o->format.kind == OUTPUT_JSON ? "JSON lines" : "CSV");
    append_endpoint(&o->endpoint, false, to);
}

static void append_columns(const struct expr_list *select, struct buf *to)
{
    buf_append_text(to, "columns: ");
    for (size_t i = 0; i < select->count; i++)
        buf_printf(to, "%s%s", i > 0 ? ", " : "", select->items[i].name);
}

/* Ends a comment, which may take several lines, and begins a new one. */
static void end_comment(struct buf *text, struct buf *to)
{
    if (buf_length(text) == 0)
        return;
    buf_append_text(to, "; ");
    wrap_append(to, buf_bytes(text), 2, " ", ";   ");
    buf_append_char(to, '\n');
    buf_clear(text);
}

void config_words(const struct config *c, struct buf *to)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text, "%s join of %s and %s", join_type_word(c->plan->type), name_of(c, SIDE_LEFT),
               name_of(c, SIDE_RIGHT));
    append_condition(c->plan, &text);
    append_windows(c->plan, &text);
    end_comment(&text, to);
    append_fates(c, &text);
    end_comment(&text, to);
    append_side(c, SIDE_LEFT, &text);
    end_comment(&text, to);
    append_side(c, SIDE_RIGHT, &text);
    end_comment(&text, to);
    append_output("results", &c->output[OUTPUT_RESULTS], &text);
    end_comment(&text, to);
    append_columns(&c->output[OUTPUT_RESULTS].format.select, &text);
    end_comment(&text, to);
    append_output("rejected records", &c->output[OUTPUT_REJECTS], &text);
    end_comment(&text, to);
    buf_done(&text);
}
