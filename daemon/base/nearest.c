#include "base/nearest.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row i of the table is about the first i letters of `a`; three are kept. */
static size_t edit_distance(struct bytes a, struct bytes b)
{
    size_t rows[3][NEAREST_NAME_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b.n; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *spare = before;
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            bool same = a.p[i - 1] == b.p[j - 1];
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[b.n];
}

/* What is farther off is another word: `outer` is not `inner`. */
static size_t distance_max(size_t n)
{
    return 1 + n / 6;
}

void nearest_consider(struct nearest *n, const char *name)
{
    struct bytes there = bytes_of(name);
    size_t distance;

    if (n->wanted.n > NEAREST_NAME_MAX || there.n > NEAREST_NAME_MAX)
        return;
    distance = edit_distance(n->wanted, there);
    if (distance > distance_max(there.n) || distance >= there.n)
        return;
    if (n->name == NULL || distance < n->distance) {
        n->name = name;
        n->distance = distance;
    }
}

void nearest_hint(const struct nearest *n, struct buf *to)
{
    if (n->name != NULL)
        buf_printf(to, "; did you mean \"%s\"?", n->name);
}
