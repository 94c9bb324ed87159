#include "core/books.h"

#include <assert.h>

static const char *const words[RESULT_KINDS] = {
    [RESULT_PAIR] = "pair", [RESULT_LEFT] = "left", [RESULT_RIGHT] = "right",
    [RESULT_SEMI] = "semi", [RESULT_ANTI] = "anti",
};

const char *result_kind_word(enum result_kind k)
{
    assert(k < RESULT_KINDS);
    return words[k];
}
