#include "config/print.h"

#include <assert.h>
#include <string.h>

#include "config/fields.h"
#include "config/key_table.h"
#include "config/keys.h"
#include "config/scalar.h"
#include "config/select.h"
#include "config/words.h"
#include "config/wrap.h"
#include "lang/expr_lexer.h"

/* --- what was chosen --- */

static unsigned endpoint_choice(const struct endpoint *e)
{
    switch (e->kind) {
    case ENDPOINT_NONE:
        return 0;
    case ENDPOINT_LISTEN:
        return e->family == FAMILY_UNIX      ? USE_UNIX
               : e->family == FAMILY_SYSTEMD ? USE_SYSTEMD
                                             : USE_TCP;
    case ENDPOINT_CONNECT:
        return e->family == FAMILY_UNIX ? USE_CONNECT_UNIX : USE_CONNECT_TCP;
    case ENDPOINT_FILE:
        return USE_FILE;
    case ENDPOINT_STANDARD:
        return USE_STANDARD;
    }
    return 0;
}

static void choice_of(struct config *c, struct choice *ret)
{
    *ret = (struct choice){
        .match = USE_MATCH(c->plan->match),
        .time = USE_TIME(c->plan->time),
    };
    for (int s = 0; s < SECTIONS; s++) {
        const struct endpoint *e = section_endpoint(c, (enum section)s);
        if (e != NULL)
            ret->endpoints[s] = endpoint_choice(e);
    }
    for (int s = SECTION_OUTPUT; s <= SECTION_REJECTS; s++)
        ret->formats[s] = c->output[section_output((enum section)s)].format.kind == OUTPUT_JSON
                              ? USE_JSON
                              : USE_CSV;
    for (int s = 0; s < SIDES; s++) {
        const struct input_format *f = &c->input[s].format;
        enum section section = side_section((enum side)s);
        ret->formats[section] = f->kind == INPUT_JSON ? USE_JSON : USE_CSV;
        ret->envelopes[section] = USE_ENVELOPE(f->envelope);
    }
}

/* --- values --- */

static void write_list(const struct expr_list *l, struct buf *to)
{
    for (size_t i = 0; i < l->count; i++) {
        if (i > 0)
            buf_append_text(to, ", ");
        expr_write(l->items[i].expr, to);
    }
}

static void write_expression(struct expr *const *e, struct buf *to)
{
    if (*e != NULL)
        expr_write(*e, to);
}

static void write_path(const struct endpoint *e, struct buf *to)
{
    if (e->kind == ENDPOINT_STANDARD)
        buf_append_char(to, '-');
    else if (e->kind == ENDPOINT_FILE)
        quoted_write(bytes_of(e->path), to);
}

static void write_address(const struct endpoint *e, const struct key *k, struct buf *to)
{
    bool connects = strcmp(k->name, "connect") == 0;

    if (e->kind != (connects ? ENDPOINT_CONNECT : ENDPOINT_LISTEN))
        return;
    switch (e->family) {
    case FAMILY_TCP:
        buf_append_text(to, e->text);
        break;
    case FAMILY_UNIX:
        buf_append_text(to, "unix:");
        quoted_write(bytes_of(e->path), to);
        break;
    case FAMILY_SYSTEMD:
        buf_append_text(to, "systemd:");
        quoted_write(bytes_of(e->passed_name), to);
        break;
    }
}

/* Nothing is written for what is not given and has no default. */
static void write_value(struct config *c, enum section s, const struct key *k, struct buf *to)
{
    const struct plan_side *side = &c->plan->side[section_side(s)];
    const struct endpoint *e = section_endpoint(c, s);

    switch (k->type) {
    case KEY_ADDRESS:
        write_address(e, k, to);
        break;
    case KEY_PATH:
        write_path(e, to);
        break;
    case KEY_NAME:
        expr_write_name(bytes_of(side->schema.name), to);
        break;
    case KEY_FIELDS:
        fields_write(&c->input[section_side(s)].format, &side->schema, to);
        break;
    case KEY_EXPRESSIONS:
        write_list(&side->key, to);
        break;
    case KEY_EXPRESSION:
        write_expression(key_slot(c, s, k), to);
        break;
    case KEY_COLUMNS:
        select_write(&c->output[OUTPUT_RESULTS].format.select, c->plan, to);
        break;
    case KEY_TEXT:
        break;
    default:
        assert(key_is_scalar(k));
        scalar_write(k, key_slot(c, s, k), to);
    }
}

/* --- sections --- */

static bool is_in_force(struct config *c, enum section s)
{
    const struct endpoint *e = section_endpoint(c, s);

    return s != SECTION_FLINK && (e == NULL || e->kind != ENDPOINT_NONE);
}

/* What joins their lines again is one space, which a path or a null text may have in it. */
static bool can_be_broken(enum key_type t)
{
    return t == KEY_FIELDS || t == KEY_EXPRESSION || t == KEY_EXPRESSIONS || t == KEY_COLUMNS ||
           t == KEY_NETWORKS;
}

static void print_key(struct config *c, enum section s, const struct key *k, struct buf *to)
{
    struct buf value = BUF_EMPTY;

    write_value(c, s, k, &value);
    if (buf_length(&value) > 0) {
        buf_printf(to, "%s = ", k->name);
        if (can_be_broken(k->type))
            wrap_value(to, buf_bytes(&value), strlen(k->name) + 3, s);
        else
            buf_append_bytes(to, buf_bytes(&value));
        buf_append_char(to, '\n');
    }
    buf_done(&value);
}

static void print_section(struct config *c, enum section s, const struct choice *choice,
                          struct buf *to)
{
    buf_printf(to, "\n[%s]\n", section_name(s));
    for (size_t i = 0; i < key_count; i++) {
        const struct key *k = &keys[i];
        if (key_in(k, s) && k->later == NULL && key_used(k, s, choice))
            print_key(c, s, k, to);
    }
}

void config_print(const struct config *c, struct buf *to)
{
    struct config *slots = (struct config *)c; /* they are only read here */
    struct choice choice;

    assert(config_ok(c));
    choice_of(slots, &choice);
    config_words(c, to);
    for (int s = 0; s < SECTIONS; s++)
        if (is_in_force(slots, (enum section)s))
            print_section(slots, (enum section)s, &choice, to);
}
