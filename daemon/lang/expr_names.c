#include "base/nearest.h"
#include "lang/expr_inner.h"
#include "lang/expr_lexer.h"

#define NAMES_SHOWN_MAX 30 /* in a message: who has more fields knows where they stand */

/* --- finding --- */

static bool find_side(const struct expr_scope *scope, const char *name, enum side *ret)
{
    for (int s = 0; s < SIDES; s++)
        if (scope->schemas[s] != NULL && strcmp(scope->schemas[s]->name, name) == 0) {
            *ret = (enum side)s;
            return true;
        }
    return false;
}

static bool find_in(struct expr *e, const struct expr_scope *scope, enum side side,
                    struct bytes name)
{
    const struct schema *schema = scope->schemas[side];
    size_t field;

    if (schema == NULL || !schema_find(schema, name, &field))
        return false;
    e->side = side;
    e->field = field;
    e->type = schema->fields[field].type;
    return true;
}

enum found { FOUND_NONE, FOUND_ONE, FOUND_BOTH };

/* Unless it is FOUND_ONE, what `e` is bound to means nothing. */
static enum found find_in_any(struct expr *e, const struct expr_scope *scope, struct bytes name)
{
    bool right = find_in(e, scope, SIDE_RIGHT, name);
    bool left = find_in(e, scope, SIDE_LEFT, name);

    if (left && right)
        return FOUND_BOTH;
    return left || right ? FOUND_ONE : FOUND_NONE;
}

/* --- faults --- */

/* For a scope of one side that side, else NULL. */
static const struct schema *only_schema(const struct expr_scope *scope)
{
    const struct schema *left = scope->schemas[SIDE_LEFT], *right = scope->schemas[SIDE_RIGHT];

    if (left != NULL && right != NULL)
        return NULL;
    return left != NULL ? left : right;
}

/* Appends the schema's fields to a list that has `shown` names, and returns how many it has. */
static size_t list_fields(const struct schema *s, bool qualified, size_t shown, struct buf *to)
{
    for (size_t i = 0; i < s->count && shown <= NAMES_SHOWN_MAX; i++, shown++) {
        if (shown > 0)
            buf_append_text(to, ", ");
        if (shown == NAMES_SHOWN_MAX)
            buf_append_text(to, "...");
        else
            expr_write_field(qualified ? s->name : NULL, s->fields[i].name, to);
    }
    return shown;
}

/* Only for a list that was cut: in a whole one a reader finds the name. `within` NULL: of
 * all sides. */
static void append_nearest(const struct expr_scope *scope, const struct schema *within,
                           const char *name, struct buf *to)
{
    struct nearest nearest = {.wanted = bytes_of(name)};
    size_t count = 0;

    for (int s = 0; s < SIDES; s++) {
        const struct schema *schema = scope->schemas[s];
        if (schema == NULL || (within != NULL && within != schema))
            continue;
        for (size_t i = 0; i < schema->count; i++)
            nearest_consider(&nearest, schema->fields[i].name);
        count += schema->count;
    }
    if (count > NAMES_SHOWN_MAX)
        nearest_hint(&nearest, to);
}

/* `within` NULL: of all sides. */
static bool no_field(const struct expr *e, const struct expr_scope *scope, const char *name,
                     const struct schema *within, struct expr_fault *ret_fault)
{
    const struct schema *one = within != NULL ? within : only_schema(scope);
    struct buf names = BUF_EMPTY, hint = BUF_EMPTY;

    if (one != NULL) {
        if (only_schema(scope) == NULL) {
            buf_append_text(&names, " of ");
            expr_write_name(bytes_of(one->name), &names);
        }
        buf_append_text(&names, ": ");
        list_fields(one, false, 0, &names);
    } else {
        size_t shown = 0;
        buf_append_text(&names, ": ");
        for (int s = 0; s < SIDES; s++)
            if (scope->schemas[s] != NULL)
                shown = list_fields(scope->schemas[s], true, shown, &names);
    }
    append_nearest(scope, within, name, &hint);
    expr_fault_at(ret_fault, e->offset, "no field \"%s\"%s (fields%s)", name, buf_text(&hint),
                  buf_text(&names));
    buf_done(&names);
    buf_done(&hint);
    return false;
}

static bool no_side(const struct expr *e, const struct expr_scope *scope,
                    struct expr_fault *ret_fault)
{
    const struct schema *one = only_schema(scope);
    struct buf names = BUF_EMPTY;

    if (one != NULL) {
        expr_write_name(bytes_of(one->name), &names);
        expr_fault_at(ret_fault, e->offset, "no side \"%s\" here (only %s)", e->qualifier,
                      buf_text(&names));
    } else {
        for (int s = 0; s < SIDES && scope->schemas[s] != NULL; s++) {
            if (s > 0)
                buf_append_text(&names, ", ");
            expr_write_name(bytes_of(scope->schemas[s]->name), &names);
        }
        expr_fault_at(ret_fault, e->offset, "no side \"%s\" (sides: %s)", e->qualifier,
                      buf_text(&names));
    }
    buf_done(&names);
    return false;
}

static bool in_both(const struct expr *e, const struct expr_scope *scope, const char *name,
                    struct expr_fault *ret_fault)
{
    struct buf left = BUF_EMPTY, right = BUF_EMPTY;

    expr_write_field(scope->schemas[SIDE_LEFT]->name, name, &left);
    expr_write_field(scope->schemas[SIDE_RIGHT]->name, name, &right);
    expr_fault_at(ret_fault, e->offset, "\"%s\" is in both sides: write %s or %s", name,
                  buf_text(&left), buf_text(&right));
    buf_done(&left);
    buf_done(&right);
    return false;
}

/* --- names that are no fields --- */

enum special_kind { SPECIAL_TIME, SPECIAL_WINDOW, SPECIAL_TO_COME };

static const struct special {
    const char *name;
    enum special_kind kind;
    enum side side; /* SPECIAL_TIME */
    bool at_end;    /* SPECIAL_WINDOW */
} specials[] = {
    {"left_time", SPECIAL_TIME, SIDE_LEFT, false},
    {"right_time", SPECIAL_TIME, SIDE_RIGHT, false},
    {"window_start", SPECIAL_WINDOW, SIDE_LEFT, false},
    {"window_end", SPECIAL_WINDOW, SIDE_LEFT, true},
    {"result_id", SPECIAL_TO_COME, SIDE_LEFT, false},
};

static const struct special *find_special(const char *name)
{
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
        if (strcmp(specials[i].name, name) == 0)
            return &specials[i];
    return NULL;
}

static bool bind_time(struct expr *e, const struct special *s, const struct expr_scope *scope,
                      struct expr_fault *ret_fault)
{
    if (!scope->times)
        return expr_fault_at(ret_fault, e->offset, "\"%s\" can be used in select only", s->name);
    if (scope->schemas[s->side] == NULL)
        return expr_fault_at(ret_fault, e->offset,
                             "\"%s\": results have no record of the %s side here", s->name,
                             side_word(s->side));
    e->kind = EXPR_TIME;
    e->side = s->side;
    return true;
}

static bool bind_window(struct expr *e, const struct special *s, const struct expr_scope *scope,
                        struct expr_fault *ret_fault)
{
    if (!scope->windows)
        return expr_fault_at(ret_fault, e->offset,
                             "\"%s\" can be used only in the select of window joins (match = "
                             "tumbling, sliding or session)",
                             s->name);
    e->kind = EXPR_WINDOW;
    e->at_end = s->at_end;
    return true;
}

static bool bind_special(struct expr *e, const struct special *s, const struct expr_scope *scope,
                         struct expr_fault *ret_fault)
{
    e->type = TYPE_TIMESTAMP;
    switch (s->kind) {
    case SPECIAL_TIME:
        return bind_time(e, s, scope, ret_fault);
    case SPECIAL_WINDOW:
        return bind_window(e, s, scope, ret_fault);
    case SPECIAL_TO_COME:
        break;
    }
    return expr_fault_at(ret_fault, e->offset, "not in this version: \"%s\"", s->name);
}

/* --- binding --- */

static bool bind_bare(struct expr *e, const struct expr_scope *scope, struct expr_fault *ret_fault)
{
    const struct special *special;

    switch (find_in_any(e, scope, bytes_of(e->name))) {
    case FOUND_ONE:
        return true;
    case FOUND_BOTH:
        return in_both(e, scope, e->name, ret_fault);
    case FOUND_NONE:
        break;
    }
    special = find_special(e->name);
    if (special != NULL)
        return bind_special(e, special, scope, ret_fault);
    return no_field(e, scope, e->name, NULL, ret_fault);
}

/* `a.b`: the field b of the side a; else the field whose name is `a.b`, a path into
 * a JSON object. */
static bool bind_qualified(struct expr *e, const struct expr_scope *scope,
                           struct expr_fault *ret_fault)
{
    struct buf path = BUF_EMPTY;
    enum side side;
    bool side_known = find_side(scope, e->qualifier, &side);
    bool ok = true;

    if (side_known && find_in(e, scope, side, bytes_of(e->name)))
        return true;
    buf_printf(&path, "%s.%s", e->qualifier, e->name);
    switch (find_in_any(e, scope, buf_bytes(&path))) {
    case FOUND_ONE:
        break;
    case FOUND_BOTH:
        ok = in_both(e, scope, buf_text(&path), ret_fault);
        break;
    case FOUND_NONE:
        ok = side_known ? no_field(e, scope, e->name, scope->schemas[side], ret_fault)
                        : no_side(e, scope, ret_fault);
        break;
    }
    buf_done(&path);
    return ok;
}

bool expr_bind_name(struct expr *e, const struct expr_scope *scope, struct expr_fault *ret_fault)
{
    e->kind = EXPR_FIELD;
    return e->qualifier != NULL ? bind_qualified(e, scope, ret_fault)
                                : bind_bare(e, scope, ret_fault);
}
