#include "base/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/asan.h"

#define MAP_LEAST ((size_t)4096) /* a page of the system's */

/* The last words: a bare "Aborted" would leave an operator without a reason. */
static _Noreturn void out_of_memory(void)
{
    fputs("joind: out of memory\n", stderr);
    abort();
}

void *mem_alloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);

    if (p == NULL)
        out_of_memory();
    return p;
}

void *mem_alloc_zeroed(size_t count, size_t size)
{
    void *p = count > 0 && size > 0 ? calloc(count, size) : calloc(1, 1);

    if (p == NULL)
        out_of_memory();
    return p;
}

void *mem_realloc(void *old, size_t size)
{
    void *p = realloc(old, size > 0 ? size : 1);

    if (p == NULL)
        out_of_memory();
    return p;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

char *mem_strndup(const char *text, size_t length)
{
    size_t n = strnlen(text, length);
    char *copy = mem_alloc(n + 1);

    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void mem_free(void *p)
{
    free(p);
}

#ifdef ASAN
/* The sanitizer knows blocks of its own allocator only: so it finds leaks of
 * and through them. */
void *mem_map(size_t size)
{
    void *p = aligned_alloc(size, size);

    assert(size >= MAP_LEAST && (size & (size - 1)) == 0);
    if (p == NULL)
        out_of_memory();
    return p;
}

void mem_touch(void *p, size_t size)
{
    (void)p;
    (void)size;
}

void mem_unmap(void *p, size_t size)
{
    (void)size;
    free(p);
}
#else
void *mem_map(size_t size)
{
    char *p = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    assert(size >= MAP_LEAST && (size & (size - 1)) == 0);
    if (p == MAP_FAILED)
        out_of_memory();
    before = -(uintptr_t)p & (size - 1);
    if (before > 0)
        munmap(p, before);
    p += before;
    munmap(p + size, size - before);
    madvise(p, size, MADV_NOHUGEPAGE); /* see the header; a wish only */
    return p;
}

void mem_touch(void *p, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    madvise(p, size, MADV_POPULATE_WRITE); /* since Linux 5.14 */
#else
    (void)p;
    (void)size;
#endif
}

void mem_unmap(void *p, size_t size)
{
    munmap(p, size);
}
#endif
