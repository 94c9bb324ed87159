#include "codec/json_names.h"

#include <assert.h>

#include "base/mem.h"

#define KEPT_MAX 4096 /* names that there is room for from one record to the next */
#define FEW      16   /* are compared each with each */

void json_names_done(struct json_names *n)
{
    mem_free(n->items);
    *n = (struct json_names){NULL, 0, 0};
}

void json_names_clear(struct json_names *n)
{
    if (n->capacity > KEPT_MAX)
        json_names_done(n);
    n->count = 0;
}

void json_names_add(struct json_names *n, struct bytes name)
{
    if (n->count == n->capacity) {
        n->capacity = n->capacity == 0 ? FEW : 2 * n->capacity;
        n->items = mem_realloc(n->items, n->capacity * sizeof(*n->items));
    }
    n->items[n->count++] = name;
}

static bool few_twice(const struct bytes *names, size_t count, struct bytes *ret_name)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (bytes_equal(names[i], names[k])) {
                *ret_name = names[i];
                return true;
            }
    return false;
}

/* Any order will do: lengths tell most names apart. */
static bool is_before(struct bytes a, struct bytes b)
{
    if (a.n != b.n)
        return a.n < b.n;
    return a.n > 0 && memcmp(a.p, b.p, a.n) < 0;
}

/* Lets the name at `at` sink in the heap of `count` names, the last one on top. */
static void sink(struct bytes *names, size_t at, size_t count)
{
    struct bytes name = names[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            break;
        if (child + 1 < count && is_before(names[child], names[child + 1]))
            child++;
        if (!is_before(name, names[child]))
            break;
        names[at] = names[child];
        at = child;
    }
    names[at] = name;
}

/* A heap sort: it needs no memory, and no order of names is bad for it. */
static void sort(struct bytes *names, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        sink(names, i - 1, count);
    for (size_t n = count; n > 1; n--) {
        struct bytes last = names[0];

        names[0] = names[n - 1];
        names[n - 1] = last;
        sink(names, 0, n - 1);
    }
}

bool json_names_any_twice(struct json_names *n, size_t first, struct bytes *ret_name)
{
    size_t count = n->count - first;
    struct bytes *names;

    assert(first <= n->count);
    if (count == 0)
        return false;
    names = n->items + first;
    if (count <= FEW)
        return few_twice(names, count, ret_name);
    sort(names, count);
    for (size_t i = 1; i < count; i++)
        if (bytes_equal(names[i - 1], names[i])) {
            *ret_name = names[i];
            return true;
        }
    return false;
}
