#include "model/books.h"

#include <assert.h>
#include <stddef.h>

static const char *const words[RESULT_KINDS] = {
    [RESULT_PAIR] = "pair", [RESULT_LEFT] = "left", [RESULT_RIGHT] = "right",
    [RESULT_SEMI] = "semi", [RESULT_ANTI] = "anti",
};

const char *result_kind_word(enum result_kind k)
{
    assert(k < RESULT_KINDS);
    return words[k];
}

void books_add_fired(struct books *to, const struct books *more)
{
    for (int s = 0; s < SIDES; s++) {
        to->side[s].matched += more->side[s].matched;
        to->side[s].unmatched += more->side[s].unmatched;
    }
    for (int k = 0; k < RESULT_KINDS; k++)
        to->results[k] += more->results[k];
    to->results_rejected += more->results_rejected;
    to->near_misses += more->near_misses;
}

const double lateness_le_seconds[LATENESS_BUCKETS] = {
    0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 86400,
};

void lateness_add(struct lateness *l, int64_t ms)
{
    size_t i = 0;

    while (i < LATENESS_BUCKETS && (double)ms > lateness_le_seconds[i] * 1000)
        i++;
    if (i < LATENESS_BUCKETS)
        l->bucket[i]++;
    l->count++;
    l->sum_ms += ms;
}
