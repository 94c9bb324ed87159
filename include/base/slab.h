/*
 * base/slab: chunks of memory that are recycled, not given back.
 *
 * The first touch of a page costs up to 14 us; so chunks that windows drop go
 * to free lists and are taken again. Sizes are powers of two from 256 bytes to
 * 16 KiB, cut from pages of 16 KiB, which are cut from slabs of 4 MiB. A page
 * whose chunks are all free can serve another size; slab_trim() gives slabs
 * that are wholly free back to the system, when the daemon is idle.
 *
 * Nothing is mapped before the first piece is taken, and a page that was never
 * handed out is never touched. A piece that is given twice, with another size or
 * to another pool ends the process; with AddressSanitizer so does the use of one
 * that was given.
 *
 * Larger pieces go to the system's allocator. All that is handed out is counted.
 *
 * A pool is one thread's. Another one that is done with pieces puts them on a pile, which
 * takes no memory but theirs; the pool's own thread gives the pile back later.
 */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <stddef.h>
#include <stdint.h>

#define SLAB_CHUNK_MIN 256
#define SLAB_CHUNK_MAX 16384

struct slab_pool;

struct slab_pool *slab_pool_new(void);
void slab_pool_free(struct slab_pool *p); /* all chunks must be back */

/* The size that a request is rounded up to: a power of two from SLAB_CHUNK_MIN
 * to SLAB_CHUNK_MAX; above that, the next multiple of 4096. */
size_t slab_round(size_t size);

/* A piece of slab_round(size) bytes, 16-byte aligned, contents undefined.
 * Belongs to the caller until slab_give(), with the same size. */
void *slab_take(struct slab_pool *p, size_t size);
void slab_give(struct slab_pool *p, void *piece, size_t size);

/* Pieces that are to be given back. */
struct slab_pile {
    struct slab_spent *first; /* NULL: none */
};

/* As slab_give(), but later. */
void slab_pile_put(struct slab_pile *pile, void *piece, size_t size);

/* Gives all of them; the pile is empty again. */
void slab_give_pile(struct slab_pool *p, struct slab_pile *pile);

size_t slab_used(const struct slab_pool *p);   /* bytes handed out now, rounded */
size_t slab_mapped(const struct slab_pool *p); /* bytes held from the system */

/* Gives free slabs back, keeping at least `keep` mapped bytes. Returns bytes given. */
size_t slab_trim(struct slab_pool *p, size_t keep);

#endif
