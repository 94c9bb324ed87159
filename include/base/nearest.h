/*
 * base/nearest: which of the names there are was meant by one that is not.
 *
 *     struct nearest n = {.wanted = BYTES_LIT("lisetn")};
 *     nearest_consider(&n, "listen");
 *     nearest_consider(&n, "file");
 *     n.name is "listen"
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

struct nearest {
    struct bytes wanted;
    const char *name; /* not owned; NULL: none is near */
    size_t distance;  /* letters to put in, leave out, change, or swap with their neighbour */
};

/* Of equally near ones the first is kept. Near is what a slip of the hand makes: one letter,
 * of long names a few. Names of more than NEAREST_NAME_MAX bytes are passed over. */
#define NEAREST_NAME_MAX 63
void nearest_consider(struct nearest *n, const char *name);

/* Appends `; did you mean "listen"?`, or nothing. */
void nearest_hint(const struct nearest *n, struct buf *to);

#endif
