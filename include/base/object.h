/*
 * base/object: what comes back from a callback as `void *` is what was given to it.
 *
 * Such a struct begins with a magic number of its own (four letters, as a debugger shows them),
 * which goes when it is freed; so a wrong or a stale argument is found at once.
 */
#ifndef BASE_OBJECT_H
#define BASE_OBJECT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* struct x *x = object_of(arg, X_MAGIC); */
static inline void *object_of(void *arg, uint32_t magic)
{
    assert(arg != NULL && *(const uint32_t *)arg == magic);
    return arg;
}

#endif
