/* Expressions: SQL's values with SQL's NULL, and what fails. interface.md section 3. */
#include <stdlib.h>
#include <string.h>

#include "reference.h"

struct ref_texts {
    char **list; /* owned, as is each */
    size_t count;
};

struct ref_texts *ref_texts_new(void)
{
    struct ref_texts *t = calloc(1, sizeof(*t));
    if (t == NULL)
        abort();
    return t;
}

void ref_texts_free(struct ref_texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->list[i]);
    free(t->list);
    free(t);
}

/* Room for a text of `n` bytes. */
static char *new_text(struct ref_texts *t, size_t n)
{
    t->list = realloc(t->list, (t->count + 1) * sizeof(*t->list));
    char *text = calloc(n + 1, 1);
    if (t->list == NULL || text == NULL)
        abort();
    t->list[t->count++] = text;
    return text;
}

static const struct ref_value null_value = {.kind = REF_NULL};

static struct ref_value truth(bool yes)
{
    return (struct ref_value){.kind = REF_TRUTH, .whole = yes};
}

static struct ref_value whole(long long n)
{
    return (struct ref_value){.kind = REF_WHOLE, .whole = n};
}

static struct ref_value instant(long long ms)
{
    return (struct ref_value){.kind = REF_INSTANT, .whole = ms};
}

static double real_of(struct ref_value v)
{
    return v.kind == REF_WHOLE ? (double)v.whole : v.real;
}

/* Below, at or above 0: how `a` stands to `b`. Strings compare bytewise. */
static int order(struct ref_value a, struct ref_value b)
{
    if (a.kind == REF_TEXT)
        return strcmp(a.text, b.text);
    if (a.kind == REF_REAL || b.kind == REF_REAL)
        return real_of(a) < real_of(b) ? -1 : real_of(a) > real_of(b);
    return a.whole < b.whole ? -1 : a.whole > b.whole;
}

static struct ref_value compared(enum ref_op op, struct ref_value a, struct ref_value b)
{
    int o = order(a, b);
    return truth(op == REF_EQUAL     ? o == 0
                 : op == REF_UNEQUAL ? o != 0
                 : op == REF_LESS    ? o < 0
                                     : o <= 0);
}

/* Whole numbers only. bigint / bigint divides whole numbers, towards zero. */
static bool calculate(enum ref_op op, long long a, long long b, struct ref_value *ret)
{
    long long n = 0;
    bool fine = true;
    if (op == REF_ADD)
        fine = !__builtin_add_overflow(a, b, &n);
    else if (op == REF_SUBTRACT)
        fine = !__builtin_sub_overflow(a, b, &n);
    else if (op == REF_MULTIPLY)
        fine = !__builtin_mul_overflow(a, b, &n);
    else if (b == 0 || (b == -1 && a == (-9223372036854775807LL - 1)))
        fine = false;
    else
        n = op == REF_DIVIDE ? a / b : a % b;
    *ret = whole(n);
    return fine;
}

/* ASCII, and the sharp s of the alphabets. */
static struct ref_value upper(struct ref_value v, struct ref_texts *texts)
{
    char *text = new_text(texts, strlen(v.text)), *to = text;
    for (const char *p = v.text; *p != '\0'; p++) {
        if (strncmp(p, "\303\237", 2) == 0) {
            *to++ = 'S';
            *to++ = 'S';
            p++;
        } else {
            *to++ = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        }
    }
    return (struct ref_value){.kind = REF_TEXT, .text = text};
}

static struct ref_value joined(struct ref_value a, struct ref_value b, struct ref_texts *texts)
{
    size_t n = strlen(a.text), m = strlen(b.text);
    char *text = new_text(texts, n + m);
    memcpy(text, a.text, n);
    memcpy(text + n, b.text, m);
    return (struct ref_value){.kind = REF_TEXT, .text = text};
}

/* True, false and unknown. */
static struct ref_value connected(enum ref_op op, struct ref_value a, struct ref_value b)
{
    bool decides = op == REF_OR; /* whatever the other one is */
    if ((a.kind != REF_NULL && (a.whole != 0) == decides) ||
        (b.kind != REF_NULL && (b.whole != 0) == decides))
        return truth(decides);
    return a.kind == REF_NULL || b.kind == REF_NULL ? null_value : truth(!decides);
}

/* What needs no operand. */
static struct ref_value leaf(const struct ref_expr *e, const struct ref_view *view)
{
    switch (e->op) {
    case REF_FIELD:
        return view->record[e->side] == NULL ? null_value : view->record[e->side]->fields[e->field];
    case REF_LEFT_TIME:
        return view->record[REF_SIDE_LEFT] == NULL ? null_value : instant(view->time[0]);
    case REF_RIGHT_TIME:
        return view->record[REF_SIDE_RIGHT] == NULL ? null_value : instant(view->time[1]);
    case REF_WINDOW_START:
        return view->windowed ? instant(view->start) : null_value;
    case REF_WINDOW_END:
        return view->windowed ? instant(view->end) : null_value;
    default:
        return e->constant;
    }
}

/* What knows how to deal with NULL. */
static bool tolerant(const struct ref_expr *e, struct ref_value a, struct ref_value b,
                     struct ref_value *ret)
{
    if (e->op == REF_AND || e->op == REF_OR)
        *ret = connected(e->op, a, b);
    else if (e->op == REF_IS_NULL)
        *ret = truth(a.kind == REF_NULL);
    else if (e->op == REF_COALESCE)
        *ret = a.kind == REF_NULL ? b : a;
    else
        return false;
    return true;
}

bool ref_evaluate(const struct ref_plan *plan, int expr, const struct ref_view *view,
                  struct ref_texts *texts, struct ref_value *ret)
{
    const struct ref_expr *e = &plan->exprs[expr];
    struct ref_value a = null_value, b = null_value;
    if (e->a == REF_NOBODY) {
        *ret = leaf(e, view);
        return true;
    }
    if (!ref_evaluate(plan, e->a, view, texts, &a) ||
        (e->b != REF_NOBODY && !ref_evaluate(plan, e->b, view, texts, &b)))
        return false;
    if (tolerant(e, a, b, ret))
        return true;
    *ret = null_value;
    if (a.kind == REF_NULL || (e->b != REF_NOBODY && b.kind == REF_NULL))
        return true;
    switch (e->op) {
    case REF_NOT:
        *ret = truth(a.whole == 0);
        return true;
    case REF_UPPER:
        *ret = upper(a, texts);
        return true;
    case REF_JOINED:
        *ret = joined(a, b, texts);
        return true;
    case REF_EQUAL:
    case REF_UNEQUAL:
    case REF_LESS:
    case REF_LESS_EQUAL:
        *ret = compared(e->op, a, b);
        return true;
    default:
        return calculate(e->op, a.whole, b.whole, ret);
    }
}
