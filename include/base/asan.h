/*
 * base/asan: tells AddressSanitizer which bytes must not be touched.
 *
 * In a build without it these are nothing; ASAN is defined in one with it.
 */
#ifndef BASE_ASAN_H
#define BASE_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif

#ifdef ASAN
#include <sanitizer/asan_interface.h>
#define ASAN_POISON(p, n)   __asan_poison_memory_region((p), (n))
#define ASAN_UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define ASAN_POISON(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#endif
