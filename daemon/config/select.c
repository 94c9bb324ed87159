#include "config/select.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "config/fields.h"
#include "lang/expr_lexer.h"

static struct expr_scope scope_of(const struct plan *p, bool right)
{
    return (struct expr_scope){
        .schemas = {&p->side[SIDE_LEFT].schema, right ? &p->side[SIDE_RIGHT].schema : NULL},
        .times = true,
        .windows = plan_traits(p)->has_windows,
    };
}

/* Is it the right side that is asked for, where results have none? */
static bool wants_right(struct expr *e, const struct plan *p)
{
    struct expr_scope both = scope_of(p, true);
    struct expr_fault ignored;

    if (expr_bind(e, &both, &ignored))
        return expr_uses_side(e, SIDE_RIGHT);
    mem_free(ignored.message);
    return false;
}

bool select_bind(struct expr *e, const struct plan *p, struct expr_fault *ret_fault)
{
    struct expr_scope scope = scope_of(p, !plan_is_one_sided(p));

    if (expr_bind(e, &scope, ret_fault))
        return true;
    if (plan_is_one_sided(p) && wants_right(e, p)) {
        mem_free(ret_fault->message);
        expr_fault_at(ret_fault, ret_fault->offset,
                      "the result of a join of type %s has only the record of the left side",
                      join_type_word(p->type));
    }
    return false;
}

/* Written down and read, as if it stood in the file. */
void select_all(const struct plan *p, struct expr_list *ret)
{
    struct buf text = BUF_EMPTY;
    struct expr_fault fault;
    bool ok;

    for (int s = 0; s < (plan_is_one_sided(p) ? 1 : SIDES); s++) {
        const struct schema *schema = &p->side[s].schema;
        for (size_t i = 0; i < schema->count; i++) {
            if (buf_length(&text) > 0)
                buf_append_text(&text, ", ");
            expr_write_field(schema->name, schema->fields[i].name, &text);
        }
    }
    ok = expr_parse_list(buf_bytes(&text), false, ret, &fault);
    for (size_t i = 0; ok && i < ret->count; i++)
        ok = select_bind(ret->items[i].expr, p, &fault);
    assert(ok);
    buf_done(&text);
}

/* --- names --- */

/* Has one of the first `n` columns this name? */
static bool is_taken(const struct expr_list *l, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(l->items[i].name, name) == 0)
            return true;
    return false;
}

/* What column `i` is called without `as`, given the names before it; "": nothing. */
static void default_name(const struct expr_list *l, size_t i, const struct plan *p, struct buf *to)
{
    const struct expr *e = l->items[i].expr;
    const struct schema *schema;
    const char *name;

    if (e->kind == EXPR_TIME || e->kind == EXPR_WINDOW)
        buf_append_text(to, e->name);
    if (e->kind != EXPR_FIELD)
        return;
    schema = &p->side[e->side].schema;
    name = schema->fields[e->field].name;
    if (is_taken(l, i, name))
        buf_printf(to, "%s.%s", schema->name, name);
    else
        buf_append_text(to, name);
}

static char *default_name_of(const struct expr_list *l, size_t i, const struct plan *p)
{
    struct buf name = BUF_EMPTY;
    char *copy;

    default_name(l, i, p, &name);
    copy = mem_strdup(buf_text(&name));
    buf_done(&name);
    return copy;
}

bool select_name(struct expr_list *l, size_t i, const struct plan *p, const char *needed,
                 struct expr_fault *ret_fault)
{
    struct expr_item *item = &l->items[i];
    size_t offset = item->name != NULL ? item->name_offset : item->expr->offset;

    assert(i < l->count);
    if (item->name != NULL && strlen(item->name) > FIELD_NAME_MAX)
        return expr_fault_at(ret_fault, offset, "a name of more than %d bytes", FIELD_NAME_MAX);
    if (item->name == NULL)
        item->name = default_name_of(l, i, p);
    if (item->name[0] == '\0')
        return needed == NULL ||
               expr_fault_at(ret_fault, offset, "with %s an expression needs a name: as NAME",
                             needed);
    return !is_taken(l, i, item->name) ||
           expr_fault_at(ret_fault, offset,
                         "there is a column \"%s\" already; name this one by: as NAME", item->name);
}

bool select_keeps_times(const struct expr_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (expr_uses_times(l->items[i].expr))
            return true;
    return false;
}

void select_write(const struct expr_list *l, const struct plan *p, struct buf *to)
{
    assert(l->count == 0 || l->items[0].name != NULL);
    for (size_t i = 0; i < l->count; i++) {
        const struct expr_item *item = &l->items[i];
        char *name = default_name_of(l, i, p);

        if (i > 0)
            buf_append_text(to, ", ");
        expr_write(item->expr, to);
        if (strcmp(item->name, name) != 0) {
            buf_append_text(to, " as ");
            expr_write_name(bytes_of(item->name), to);
        }
        mem_free(name);
    }
}
