#include <assert.h>

#include "base/asan.h"
#include "base/mem.h"
#include "lang/expr_inner.h"

#define PIECE_BYTES_MIN 1024
#define PIECE_ALIGN     16 /* enough for anything that is put there */

/* Texts do not move: where a piece is full, another one follows. */
struct piece {
    struct piece *next;
    size_t size, used; /* of bytes */
    _Alignas(PIECE_ALIGN) char bytes[];
};

struct expr_memory {
    struct piece *pieces; /* owned; the one in use is the first */
    size_t total;         /* bytes in all of them */
};

struct expr_memory *expr_memory_new(void)
{
    return mem_alloc_zeroed(1, sizeof(struct expr_memory));
}

static void add_piece(struct expr_memory *m, size_t size)
{
    struct piece *p = mem_alloc(sizeof(*p) + size);

    p->next = m->pieces;
    p->size = size;
    p->used = 0;
    ASAN_POISON(p->bytes, p->size);
    m->pieces = p;
    m->total += size;
}

static void free_pieces(struct expr_memory *m)
{
    while (m->pieces != NULL) {
        struct piece *p = m->pieces;
        m->pieces = p->next;
        ASAN_UNPOISON(p->bytes, p->size);
        mem_free(p);
    }
    m->total = 0;
}

void expr_memory_free(struct expr_memory *m)
{
    if (m == NULL)
        return;
    free_pieces(m);
    mem_free(m);
}

/* Several pieces become one that has their size: the next row like this fits. */
void expr_memory_reset(struct expr_memory *m)
{
    if (m->pieces == NULL)
        return;
    if (m->pieces->next != NULL) {
        size_t total = m->total;
        free_pieces(m);
        add_piece(m, total);
    }
    m->pieces->used = 0;
    ASAN_POISON(m->pieces->bytes, m->pieces->size);
}

void *expr_memory_room(struct expr_memory *m, size_t n)
{
    struct piece *p = m->pieces;

    if (p == NULL || p->size - p->used < n) {
        size_t size = m->total > PIECE_BYTES_MIN ? m->total : PIECE_BYTES_MIN;
        add_piece(m, (size > n ? size : n) + PIECE_ALIGN);
        p = m->pieces;
    }
    ASAN_UNPOISON(p->bytes + p->used, n);
    return p->bytes + p->used;
}

void expr_memory_keep(struct expr_memory *m, size_t n)
{
    struct piece *p = m->pieces;
    size_t used = p->used + (n + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;

    assert(p != NULL && p->used <= p->size && n <= p->size - p->used);
    ASAN_POISON(p->bytes + p->used + n, p->size - p->used - n);
    p->used = used < p->size ? used : p->size;
}
