#include "base/mem.h"
#include "config/fields.h"
#include "config/reading.h"
#include "config/scalar.h"
#include "config/select.h"
#include "lang/expr_lexer.h"

/* What is known of the sides so far. */
struct sides {
    struct reading *r;
    struct plan *plan;
    bool fields_known[SIDES];
    bool keys_known[SIDES];
    bool names_differ;
    const struct setting *key[SIDES]; /* NULL: not given */
};

static bool both_known(const struct sides *s)
{
    return s->fields_known[SIDE_LEFT] && s->fields_known[SIDE_RIGHT] && s->names_differ;
}

/* --- names and fields --- */

static void read_side_name(struct sides *s, enum side side)
{
    const struct setting *given = reading_find(s->r, side_section(side), "name");
    struct schema *schema = &s->plan->side[side].schema;
    struct buf name = BUF_EMPTY;
    struct expr_fault fault;

    if (given == NULL)
        return; /* plan_new() has named it */
    if (side_name_read(setting_text(given), &name, &fault)) {
        mem_free(schema->name);
        schema->name = mem_strdup(buf_text(&name));
    } else {
        report_fault(s->r, given, &fault);
    }
    buf_done(&name);
}

static void compare_names(struct sides *s)
{
    const struct schema *left = &s->plan->side[SIDE_LEFT].schema;
    const struct schema *right = &s->plan->side[SIDE_RIGHT].schema;
    const struct setting *given = reading_find(s->r, SECTION_RIGHT, "name");

    s->names_differ = strcmp(left->name, right->name) != 0;
    if (s->names_differ)
        return;
    if (given == NULL)
        given = reading_find(s->r, SECTION_LEFT, "name");
    report_value(&s->r->report, given, 0, "both sides have the name \"%s\"; they need two",
                 left->name);
}

static void read_side_fields(struct sides *s, enum side side)
{
    const struct setting *given = reading_find(s->r, side_section(side), "fields");

    if (given != NULL)
        s->fields_known[side] = fields_read(s->r, given);
}

/* --- conditions --- */

static struct expr_scope scope_of(const struct sides *s, enum side side)
{
    struct expr_scope scope = {.times = false};

    scope.schemas[side] = &s->plan->side[side].schema;
    return scope;
}

static struct expr_scope scope_of_both(const struct sides *s)
{
    return (struct expr_scope){
        .schemas = {&s->plan->side[SIDE_LEFT].schema, &s->plan->side[SIDE_RIGHT].schema},
    };
}

static bool is_condition(const struct expr *e, struct expr_fault *ret_fault)
{
    return e->type == TYPE_BOOLEAN ||
           expr_fault_at(ret_fault, e->offset, "a condition is a boolean, and this is a %s",
                         value_type_name(e->type));
}

#define EPOCH_TYPES "timestamp_s, timestamp_ms, timestamp_us or timestamp_ns"

static bool is_time(const struct expr *e, struct expr_fault *ret_fault)
{
    switch (e->type) {
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_S:
    case TYPE_TIMESTAMP_MS:
    case TYPE_TIMESTAMP_US:
    case TYPE_TIMESTAMP_NS:
        return true;
    case TYPE_BIGINT:
    case TYPE_DOUBLE:
        return expr_fault_at(ret_fault, e->offset,
                             "a %s is no time yet: say its unit by a type in fields (" EPOCH_TYPES
                             "), or by a cast, as cast(x as timestamp_ms)",
                             value_type_name(e->type));
    case TYPE_STRING:
    case TYPE_BOOLEAN:
        break;
    }
    return expr_fault_at(ret_fault, e->offset,
                         "a time is of type timestamp (RFC 3339 text), " EPOCH_TYPES
                         ", and this is a %s",
                         value_type_name(e->type));
}

typedef bool expr_check(const struct expr *e, struct expr_fault *ret_fault);

/* One expression. `scope` NULL: its fields are not known. */
static bool read_expression(struct bytes text, const struct expr_scope *scope, expr_check *check,
                            struct expr **ret, struct expr_fault *ret_fault)
{
    struct expr_list list;
    struct expr *e;
    bool ok = true;

    if (!expr_parse_list(text, false, &list, ret_fault))
        return false;
    e = list.items[0].expr;
    if (list.count > 1)
        ok = expr_fault_at(ret_fault, list.items[1].expr->offset,
                           "one expression is wanted here, not a list");
    else if (scope != NULL)
        ok = expr_bind(e, scope, ret_fault) && check(e, ret_fault);
    if (ok) {
        *ret = e;
        list.items[0].expr = NULL;
    }
    expr_list_done(&list);
    return ok;
}

static void read_expression_of(struct sides *s, enum section section, const char *name,
                               const struct expr_scope *scope, expr_check *check)
{
    const struct setting *given = reading_find(s->r, section, name);
    struct expr_fault fault;

    if (given == NULL || !key_used(given->key, section, &s->r->choice))
        return;
    if (!read_expression(setting_text(given), scope, check,
                         key_slot(s->r->config, section, given->key), &fault))
        report_fault(s->r, given, &fault);
}

/* --- keys --- */

/* Binds each; all faults are told. */
static bool bind_all(const struct sides *s, const struct setting *given,
                     const struct expr_list *list, const struct expr_scope *scope)
{
    struct expr_fault fault;
    bool ok = true;

    for (size_t i = 0; i < list->count; i++)
        if (!expr_bind(list->items[i].expr, scope, &fault)) {
            report_fault(s->r, given, &fault);
            ok = false;
        }
    return ok;
}

static void read_key(struct sides *s, enum side side)
{
    struct expr_list *key = &s->plan->side[side].key;
    struct expr_scope scope = scope_of(s, side);
    const struct setting *given = s->key[side];
    struct expr_fault fault;

    if (given == NULL || setting_text(given).n == 0)
        return;
    if (!expr_parse_list(setting_text(given), false, key, &fault))
        report_fault(s->r, given, &fault);
    else if (s->fields_known[side])
        s->keys_known[side] = bind_all(s, given, key, &scope);
}

/* False: there is nothing to compare, or it is reported. */
static bool key_counts_agree(const struct sides *s)
{
    size_t left = s->plan->side[SIDE_LEFT].key.count, right = s->plan->side[SIDE_RIGHT].key.count;

    for (int side = 0; side < SIDES; side++)
        if (s->key[side] == NULL && s->key[!side] != NULL) {
            report_section(&s->r->report, &s->r->settings, side_section((enum side)side),
                           "needs key: [%s] has one", side_word((enum side) !side));
            return false;
        }
    if (left == right || left == 0 || right == 0) /* 0: it could not be read */
        return left == right;
    report_value(&s->r->report, s->key[SIDE_RIGHT], 0,
                 "needs as many expressions as [left] key: %zu, not %zu", left, right);
    return false;
}

static void compare_keys(struct sides *s)
{
    struct plan_side *left = &s->plan->side[SIDE_LEFT], *right = &s->plan->side[SIDE_RIGHT];

    if (!key_counts_agree(s) || !s->keys_known[SIDE_LEFT] || !s->keys_known[SIDE_RIGHT])
        return;
    left->key_as_double = mem_alloc_zeroed(left->key.count, sizeof(bool));
    right->key_as_double = mem_alloc_zeroed(right->key.count, sizeof(bool));
    for (size_t i = 0; i < left->key.count; i++) {
        const struct expr *a = left->key.items[i].expr, *b = right->key.items[i].expr;
        bool real =
            value_type_class(a->type) == TYPE_DOUBLE || value_type_class(b->type) == TYPE_DOUBLE;

        if (!value_types_comparable(a->type, b->type))
            report_value(&s->r->report, s->key[SIDE_RIGHT], b->offset,
                         "a %s cannot be compared with the %s of [left] key",
                         value_type_name(b->type), value_type_name(a->type));
        /* Two doubles too: 0 and -0 are equal. */
        left->key_as_double[i] = right->key_as_double[i] = real;
    }
}

/* --- columns --- */

static bool bind_columns(const struct sides *s, const struct setting *given, struct expr_list *list)
{
    struct expr_fault fault;
    bool ok = true;

    for (size_t i = 0; i < list->count; i++)
        if (!select_bind(list->items[i].expr, s->plan, &fault)) {
            report_fault(s->r, given, &fault);
            ok = false;
        }
    return ok;
}

/* What writes the columns' names; NULL: nothing does. */
static const char *names_needed(const struct reading *r)
{
    if (r->choice.formats[SECTION_OUTPUT] == USE_JSON)
        return "format = json";
    return r->config->output[OUTPUT_RESULTS].format.header ? "header = yes" : NULL;
}

static void name_columns(const struct sides *s, const struct setting *given, struct expr_list *list)
{
    const char *needed = names_needed(s->r);
    struct expr_fault fault;

    for (size_t i = 0; i < list->count; i++)
        if (!select_name(list, i, s->plan, needed, &fault))
            report_fault(s->r, given, &fault);
}

/* What is not given can go wrong by odd names alone, such as "right.id". */
static void name_default_columns(const struct sides *s, struct expr_list *list)
{
    struct expr_fault fault;

    for (size_t i = 0; i < list->count; i++)
        if (!select_name(list, i, s->plan, NULL, &fault)) {
            report_section(&s->r->report, &s->r->settings, SECTION_OUTPUT, "needs select: %s",
                           fault.message);
            mem_free(fault.message);
        }
}

static void read_select(struct sides *s)
{
    struct expr_list *list = &s->r->config->output[OUTPUT_RESULTS].format.select;
    const struct setting *given = reading_find(s->r, SECTION_OUTPUT, "select");
    struct expr_fault fault;

    if (given == NULL && both_known(s)) {
        select_all(s->plan, list);
        name_default_columns(s, list);
    } else if (given != NULL && !expr_parse_list(setting_text(given), true, list, &fault)) {
        report_fault(s->r, given, &fault);
    } else if (given != NULL && both_known(s) && bind_columns(s, given, list)) {
        name_columns(s, given, list);
    }
}

/* --- all --- */

static void read_side(struct sides *s, enum side side)
{
    struct expr_scope scope = scope_of(s, side);
    const struct expr_scope *known = s->fields_known[side] ? &scope : NULL;

    s->key[side] = settings_find(&s->r->settings, side_section(side), "key");
    read_expression_of(s, side_section(side), "where", known, is_condition);
    read_expression_of(s, side_section(side), "timestamp", known, is_time);
    read_key(s, side);
}

void join_read(struct reading *r)
{
    struct sides s = {.r = r, .plan = r->config->plan};
    struct expr_scope both = scope_of_both(&s);

    for (int side = 0; side < SIDES; side++)
        read_side_name(&s, (enum side)side);
    compare_names(&s);
    for (int side = 0; side < SIDES; side++)
        read_side_fields(&s, (enum side)side);
    for (int side = 0; side < SIDES; side++)
        read_side(&s, (enum side)side);
    compare_keys(&s);
    read_expression_of(&s, SECTION_JOIN, "on", both_known(&s) ? &both : NULL, is_condition);
    read_select(&s);
}
