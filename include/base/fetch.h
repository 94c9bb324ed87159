/*
 * base/fetch: functions that only ask the processor to fetch what will be needed.
 */
#ifndef BASE_FETCH_H
#define BASE_FETCH_H

#include <stdint.h>

/* In place of `inline`. gcc 12 takes a function that does nothing but __builtin_prefetch() for
 * one without effect and leaves out its calls, unless they are inlined before it thinks so. */
#define FETCH_INLINE inline __attribute__((always_inline))

#define FETCH_LINE 64 /* bytes that come at once, on most machines */

/* So many bytes, of which there is one at least. They need not be there. */
static FETCH_INLINE void fetch_bytes(const void *p, uint32_t n)
{
    __builtin_prefetch(p);
    for (uint32_t i = FETCH_LINE; i < n; i += FETCH_LINE)
        __builtin_prefetch((const char *)p + i);
}

#endif
