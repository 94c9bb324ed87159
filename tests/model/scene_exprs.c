/* Expressions of a few shapes: what is asked of them is NULL, errors and types. */
#include "scene_random.h"

static int add(struct scene *s, struct ref_expr e)
{
    s->plan.exprs[s->plan.expr_count] = e;
    return s->plan.expr_count++;
}

static int leaf(struct scene *s, enum ref_op op)
{
    return add(s, (struct ref_expr){.op = op, .a = NONE, .b = NONE});
}

static int field(struct scene *s, int side, int number)
{
    return add(
        s, (struct ref_expr){.op = REF_FIELD, .side = side, .field = number, .a = NONE, .b = NONE});
}

static int number(struct scene *s, long long n)
{
    return add(s, (struct ref_expr){.op = REF_CONSTANT,
                                    .constant = {.kind = REF_WHOLE, .whole = n},
                                    .a = NONE,
                                    .b = NONE});
}

static int text(struct scene *s, const char *t)
{
    return add(s, (struct ref_expr){.op = REF_CONSTANT,
                                    .constant = {.kind = REF_TEXT, .text = t},
                                    .a = NONE,
                                    .b = NONE});
}

static int both(struct scene *s, enum ref_op op, int a, int b)
{
    return add(s, (struct ref_expr){.op = op, .a = a, .b = b});
}

static int one(struct scene *s, enum ref_op op, int a)
{
    return both(s, op, a, NONE);
}

static bool is_text(const struct scene *s, int side, int f)
{
    return s->side[side].fields[f].alphabet == &alphabet_string;
}

/* --- keys --- */

static int text_key(struct dice *d, struct scene *s, int f)
{
    switch (below(d, 4)) {
    case 0:
        return both(s, REF_COALESCE, f, text(s, "kk"));
    case 1:
        return one(s, REF_UPPER, f);
    case 2:
        return both(s, REF_JOINED, f, text(s, "k"));
    default:
        return f;
    }
}

static int number_key(struct dice *d, struct scene *s, int side, int f)
{
    switch (below(d, 6)) {
    case 0:
        return both(s, REF_ADD, f, number(s, below(d, 2)));
    case 1:
        return both(s, REF_REST, f, number(s, 2));
    case 2:
        return both(s, REF_COALESCE, f, number(s, 1));
    case 3:
        return both(s, REF_DIVIDE, f, field(s, side, s->side[side].number));
    case 4:
        return both(s, REF_MULTIPLY, f, number(s, 4611686018427387904LL));
    default:
        return f;
    }
}

void random_keys(struct dice *d, struct scene *s, const bool computed[REF_KEYS_MAX])
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < s->plan.keys; i++) {
            int at = s->side[side].key[i], f = field(s, side, at);
            if (computed[i])
                f = is_text(s, side, at) ? text_key(d, s, f) : number_key(d, s, side, f);
            s->plan.key[side][i] = f;
        }
}

/* --- conditions --- */

static int truth(struct scene *s, int side)
{
    return field(s, side, s->side[side].truth);
}

static int other(struct scene *s, int side)
{
    return field(s, side, s->side[side].other);
}

static int a_number(struct scene *s, int side)
{
    return field(s, side, s->side[side].number);
}

/* Its time, as a number, where the type has one; else another number. */
static int time_number(struct scene *s, int side)
{
    int time = s->side[side].time;
    const char *type = time == NONE ? "" : s->side[side].fields[time].time_type;
    bool is_number = type[0] != '\0' && type[9] == '_' && type[10] != 's'; /* timestamp_ms, ... */
    return is_number ? field(s, side, time) : a_number(s, side);
}

static int random_where(struct dice *d, struct scene *s, int side)
{
    int zero = number(s, 0);
    switch (below(d, 6)) {
    case 0:
        return both(s, REF_EQUAL, both(s, REF_REST, time_number(s, side), number(s, 3)), zero);
    case 1:
        return one(s, REF_NOT, truth(s, side));
    case 2:
        return both(s, REF_LESS, both(s, REF_DIVIDE, number(s, 4), a_number(s, side)),
                    number(s, 4));
    case 3:
        return both(s, REF_OR, truth(s, side), one(s, REF_IS_NULL, other(s, side)));
    case 4:
        return both(s, REF_AND, truth(s, side), both(s, REF_UNEQUAL, a_number(s, side), zero));
    default:
        return truth(s, side);
    }
}

static int random_on(struct dice *d, struct scene *s)
{
    int side = below(d, 2);
    int left = a_number(s, 0), right = a_number(s, 1);
    switch (below(d, 7)) {
    case 0:
        return both(s, REF_LESS, left, right);
    case 1:
        return both(s, REF_LESS_EQUAL, number(s, 0), both(s, REF_DIVIDE, left, right));
    case 2:
        return both(s, REF_OR, truth(s, 0), truth(s, 1));
    case 3:
        return both(s, REF_AND, both(s, REF_UNEQUAL, left, right), other(s, side));
    case 4:
        return both(s, REF_UNEQUAL, both(s, REF_REST, left, right), number(s, 1));
    case 5:
        return both(s, REF_EQUAL, truth(s, 0), truth(s, 1));
    default:
        return truth(s, side);
    }
}

void random_conditions(struct dice *d, struct scene *s)
{
    for (int side = 0; side < 2; side++)
        s->plan.where[side] = chance(d, 25) ? random_where(d, s, side) : NONE;
    s->plan.on = chance(d, 45) ? random_on(d, s) : NONE;
}

/* --- select --- */

static int random_computed(struct dice *d, struct scene *s, bool left_only, bool times)
{
    int right = left_only ? 0 : 1;
    bool windows = s->plan.match <= REF_SESSION;
    switch (below(d, times ? 6 : 3)) {
    case 0:
        return both(s, REF_ADD, a_number(s, 0), a_number(s, right));
    case 1:
        return both(s, REF_DIVIDE, a_number(s, 0), a_number(s, right));
    case 2:
        return both(s, REF_COALESCE, a_number(s, right), number(s, -7));
    case 3:
        return leaf(s, left_only ? REF_LEFT_TIME : REF_RIGHT_TIME);
    case 4:
        return leaf(s, windows ? REF_WINDOW_START : REF_LEFT_TIME);
    default:
        return leaf(s, windows ? REF_WINDOW_END : REF_LEFT_TIME);
    }
}

/* Plain fields, each at most once (what columns are called is not looked at here), and what is
 * computed. Times of the far past and future are not written out: events stay away from there. */
void random_select(struct dice *d, struct scene *s)
{
    bool left_only = s->plan.type == REF_SEMI || s->plan.type == REF_ANTI;
    for (int wanted = below(d, SELECT_MAX + 1); wanted > 0; wanted--) {
        int side = left_only ? 0 : below(d, 2), at = below(d, s->side[side].field_count);
        bool there = false;
        if (chance(d, 40)) {
            s->select[s->select_count++] = random_computed(d, s, left_only, true);
            continue;
        }
        for (int i = 0; i < s->select_count; i++) {
            const struct ref_expr *e = &s->plan.exprs[s->select[i]];
            there = there || (e->op == REF_FIELD && e->side == side && e->field == at);
        }
        if (!there)
            s->select[s->select_count++] = field(s, side, at);
    }
}
