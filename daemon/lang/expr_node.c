#include <assert.h>

#include "base/mem.h"
#include "lang/expr_inner.h"

struct expr *expr_new(enum expr_kind kind, size_t offset)
{
    struct expr *e = mem_alloc_zeroed(1, sizeof(*e));

    e->kind = kind;
    e->offset = offset;
    return e;
}

struct expr **expr_add_part(struct expr *e)
{
    e->parts = mem_realloc(e->parts, (e->part_count + 1) * sizeof(struct expr *));
    e->parts[e->part_count] = NULL;
    return &e->parts[e->part_count++];
}

bool expr_grown(struct expr *e)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (e->parts[i]->height >= e->height)
            e->height = e->parts[i]->height + 1;
    return e->height <= EXPR_HEIGHT_MAX;
}

bool expr_ok(const struct expr *e)
{
    static const struct {
        size_t min, max;
    } parts[] = {
        [EXPR_LITERAL] = {0, 0},       [EXPR_FIELD] = {0, 0},      [EXPR_TIME] = {0, 0},
        [EXPR_WINDOW] = {0, 0},        [EXPR_NEGATE] = {1, 1},     [EXPR_ARITHMETIC] = {2, 2},
        [EXPR_CONCAT] = {2, SIZE_MAX}, [EXPR_AND] = {2, SIZE_MAX}, [EXPR_OR] = {2, SIZE_MAX},
        [EXPR_NOT] = {1, 1},           [EXPR_COMPARE] = {2, 2},    [EXPR_IS_NULL] = {1, 1},
        [EXPR_IN] = {2, SIZE_MAX},     [EXPR_BETWEEN] = {3, 3},    [EXPR_LIKE] = {2, 2},
        [EXPR_CASE] = {2, SIZE_MAX},   [EXPR_CAST] = {1, 1},       [EXPR_CALL] = {0, SIZE_MAX},
    };

    for (size_t i = 0; i < e->part_count; i++)
        if (e->parts[i]->height >= e->height)
            return false;
    return e->part_count >= parts[e->kind].min && e->part_count <= parts[e->kind].max &&
           e->height <= EXPR_HEIGHT_MAX;
}

void expr_free(struct expr *e)
{
    if (e == NULL)
        return;
    for (size_t i = 0; i < e->part_count; i++)
        expr_free(e->parts[i]);
    mem_free(e->parts);
    mem_free(e->text);
    mem_free(e->qualifier);
    mem_free(e->name);
    mem_free(e);
}

void expr_list_done(struct expr_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        expr_free(l->items[i].expr);
        mem_free(l->items[i].name);
    }
    mem_free(l->items);
    *l = (struct expr_list){NULL, 0};
}

bool expr_uses_times(const struct expr *e)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (expr_uses_times(e->parts[i]))
            return true;
    return e->kind == EXPR_TIME;
}

bool expr_uses_side(const struct expr *e, enum side side)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (expr_uses_side(e->parts[i], side))
            return true;
    return (e->kind == EXPR_FIELD || e->kind == EXPR_TIME) && e->side == side;
}

const char *expr_outcome_text(enum expr_outcome o)
{
    assert((unsigned)o < EXPR_OUTCOMES);
    static const char *const texts[EXPR_OUTCOMES] = {
        [EXPR_OK] = "no error",
        [EXPR_DIVISION_BY_ZERO] = "division by zero",
        [EXPR_OVERFLOW] = "a bigint overflows",
        [EXPR_NOT_FINITE] = "a double is not finite",
        [EXPR_BAD_CAST] = "a cast fails",
    };

    return texts[o];
}

bool expr_makes_texts(const struct expr *e)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (expr_makes_texts(e->parts[i]))
            return true;
    return e->kind == EXPR_CONCAT || e->kind == EXPR_CAST || e->kind == EXPR_CALL;
}
