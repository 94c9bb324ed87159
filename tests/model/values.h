/*
 * model/values: what fields hold: texts, and what joind must make of them.
 */
#ifndef MODEL_VALUES_H
#define MODEL_VALUES_H

#include <stddef.h>

#include "reference.h"

struct alphabet {
    const char *type; /* as in `fields` */
    enum ref_value_kind kind;
    struct {
        const char *input;   /* as it may come in */
        const char *written; /* as it must go out; NULL: as it came */
    } values[16];            /* up to the first without input */
    const char *not_one;     /* a text that is none of the type; NULL: all are */
};

/* Types that can be compared with one another. */
struct alphabet_pair {
    const struct alphabet *of[2];
};

extern const struct alphabet alphabet_string, alphabet_boolean, alphabet_number;
extern const struct alphabet_pair alphabet_pairs[];
extern const size_t alphabet_pair_count;

size_t alphabet_size(const struct alphabet *a);
const char *alphabet_written(const struct alphabet *a, int value);
struct ref_value alphabet_value(const struct alphabet *a, int value);

#endif
