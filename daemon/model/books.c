#include "model/books.h"

#include <assert.h>
#include <stddef.h>

static const char *const fate_words[FATES] = {
    [FATE_REJECTED] = "rejected", [FATE_FILTERED] = "filtered",   [FATE_LATE] = "late",
    [FATE_MATCHED] = "matched",   [FATE_UNMATCHED] = "unmatched",
};

const char *fate_word(enum fate f)
{
    assert(f < FATES);
    return fate_words[f];
}

static const char *const result_words[RESULT_KINDS] = {
    [RESULT_PAIR] = "pair", [RESULT_LEFT] = "left", [RESULT_RIGHT] = "right",
    [RESULT_SEMI] = "semi", [RESULT_ANTI] = "anti",
};

const char *result_kind_word(enum result_kind k)
{
    assert(k < RESULT_KINDS);
    return result_words[k];
}

void books_add_fired(struct books *to, const struct books *more)
{
    for (int s = 0; s < SIDES; s++)
        for (int f = 0; f < FATES; f++)
            to->side[s].fate[f] += more->side[s].fate[f];
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
