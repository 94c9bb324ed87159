/*
 * base/fetch: functions that only ask the processor to fetch what will be needed.
 */
#ifndef BASE_FETCH_H
#define BASE_FETCH_H

/* In place of `inline`. gcc 12 takes a function that does nothing but __builtin_prefetch() for
 * one without effect and leaves out its calls, unless they are inlined before it thinks so. */
#define FETCH_INLINE inline __attribute__((always_inline))

#endif
