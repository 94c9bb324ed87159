/*
 * base/mem: memory that is there or ends the process.
 *
 * Memory is bounded by accounting (state.memory, the outputs' buffers), not by
 * failing allocations: there is no branch for them anywhere else.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* All of these return what the caller owns and gives back by mem_free(). A size
 * of 0 is fine and gives a pointer of its own. */
void *mem_alloc(size_t size);
void *mem_alloc_zeroed(size_t count, size_t size);
void *mem_realloc(void *old, size_t size);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length); /* up to a NUL, at most `length` bytes */

void mem_free(void *p); /* NULL is fine */

/* `size` bytes (a power of two, at least a page) that start at a multiple of
 * `size`: straight from the system, untouched. Not in huge pages: clearing one at its
 * first touch stopped the loop for up to 5 ms on a virtual machine, and made no record
 * faster that could be measured. The caller gives them back by mem_unmap(). */
void *mem_map(size_t size);
void mem_unmap(void *p, size_t size);

/* Asks the system to find some of that memory now, in one go, and not page by page as it is
 * touched. A wish only; what is there already stays as it is. */
void mem_touch(void *p, size_t size);

#endif
