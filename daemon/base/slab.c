#include "base/slab.h"

#include <assert.h>
#include <stdbool.h>

#include "base/asan.h"
#include "base/list.h"
#include "base/mem.h"

#define SLAB_SIZE       ((size_t)4 << 20)
#define SLAB_PAGE       ((size_t)SLAB_CHUNK_MAX)
#define SLAB_PAGES      (SLAB_SIZE / SLAB_PAGE)
#define CLASSES         7 /* 256 << 0 to 256 << 6 */
#define LARGE_UNIT      ((size_t)4096)
#define SLAB_PAGE_WORDS (SLAB_PAGES / 64)

_Static_assert((size_t)SLAB_CHUNK_MIN << (CLASSES - 1) == SLAB_CHUNK_MAX, "classes");
_Static_assert(SLAB_PAGE / SLAB_CHUNK_MIN <= 64, "one word has a bit for each chunk of a page");

/* A page in use; its chunks are told by bits, so that free memory, which may
 * never have been touched, stays untouched. */
struct page {
    struct list_link link; /* in pool.pages[class] while some, but not all, chunks are free */
    uint64_t free;         /* a bit for each free chunk */
    unsigned class;
};

/* Stands at the start of its own memory, in place of the first page: so a chunk's
 * slab is found by masking its address. */
struct slab {
    struct list_link link; /* in one of the pool's lists of slabs */
    struct slab_pool *pool;
    size_t free_count;                    /* of pages */
    size_t touched;                       /* those below have been in use */
    uint64_t free_pages[SLAB_PAGE_WORDS]; /* a bit for each page that serves no size */
    struct page pages[SLAB_PAGES];        /* [0] is not used */
};

_Static_assert(sizeof(struct slab) <= SLAB_PAGE, "the head of a slab fits in its first page");

struct slab_pool {
    struct list empty;          /* slabs of which no page is in use */
    struct list partial;        /* some are */
    struct list full;           /* all are */
    struct list pages[CLASSES]; /* pages with free chunks */
    size_t used, mapped;        /* bytes */
};

struct slab_pool *slab_pool_new(void)
{
    struct slab_pool *p = mem_alloc_zeroed(1, sizeof(*p));

    list_init(&p->empty);
    list_init(&p->partial);
    list_init(&p->full);
    for (size_t i = 0; i < CLASSES; i++)
        list_init(&p->pages[i]);
    return p;
}

void slab_pool_free(struct slab_pool *p)
{
    if (p == NULL)
        return;
    assert(p->used == 0);
    slab_trim(p, 0);
    assert(p->mapped == 0);
    mem_free(p);
}

/* What is handed out lies in what is mapped. */
static bool pool_ok(const struct slab_pool *p)
{
    return p->used <= p->mapped;
}

/* The power of two is 256 << class. */
static unsigned class_of(size_t size)
{
    if (size <= SLAB_CHUNK_MIN)
        return 0;
    return 64 - (unsigned)__builtin_clzll((size - 1) / SLAB_CHUNK_MIN);
}

static size_t class_size(unsigned class)
{
    return (size_t)SLAB_CHUNK_MIN << class;
}

size_t slab_round(size_t size)
{
    if (size <= SLAB_CHUNK_MAX)
        return class_size(class_of(size));
    assert(size <= SIZE_MAX - LARGE_UNIT);
    return (size + LARGE_UNIT - 1) / LARGE_UNIT * LARGE_UNIT;
}

static struct slab *slab_of(void *piece)
{
    return (struct slab *)((uintptr_t)piece & ~(uintptr_t)(SLAB_SIZE - 1));
}

static char *page_memory(struct slab *s, size_t index)
{
    return (char *)s + index * SLAB_PAGE;
}

static void move_slab(struct slab *s, struct list *to)
{
    list_remove(&s->link);
    list_append(to, &s->link);
}

static struct slab *open_slab(struct slab_pool *p)
{
    struct slab *s = mem_map(SLAB_SIZE);

    s->pool = p;
    s->free_count = SLAB_PAGES - 1;
    s->touched = 1;
    for (size_t i = 0; i < SLAB_PAGE_WORDS; i++)
        s->free_pages[i] = UINT64_MAX;
    s->free_pages[0] &= ~(uint64_t)1;
    ASAN_POISON(page_memory(s, 1), SLAB_SIZE - SLAB_PAGE);
    list_append(&p->empty, &s->link);
    p->mapped += SLAB_SIZE;
    return s;
}

static void close_slab(struct slab_pool *p, struct slab *s)
{
    assert(s->pool == p && s->free_count == SLAB_PAGES - 1);
    list_remove(&s->link);
    ASAN_UNPOISON(s, SLAB_SIZE);
    mem_unmap(s, SLAB_SIZE);
    p->mapped -= SLAB_SIZE;
}

static size_t lowest_free_page(const struct slab *s)
{
    size_t word = 0;

    assert(s->free_count > 0);
    while (s->free_pages[word] == 0)
        word++;
    return word * 64 + (unsigned)__builtin_ctzll(s->free_pages[word]);
}

/* One with a free page; slabs in use first, so that others can be given back. But pages that were
 * never in use, of which one slab may have some, come after all that were: their first touch costs
 * more than all that is done with them. */
static struct slab *slab_with_room(struct slab_pool *p)
{
    struct list_link *l = list_first(&p->empty);

    LIST_EACH (&p->partial, struct slab, link, s)
        if (lowest_free_page(s) < s->touched)
            return s;
    if (l == NULL)
        l = list_first(&p->partial);
    return l != NULL ? LIST_MEMBER(l, struct slab, link) : open_slab(p);
}

static size_t take_free_page(struct slab *s)
{
    size_t page = lowest_free_page(s);

    assert(page > 0 && page < SLAB_PAGES); /* [0] is the slab's own */
    s->free_pages[page / 64] &= ~((uint64_t)1 << page % 64);
    s->free_count--;
    if (page >= s->touched) {
        s->touched = page + 1;
        mem_touch(page_memory(s, page), SLAB_PAGE);
    }
    return page;
}

static struct page *open_page(struct slab_pool *p, unsigned class)
{
    struct slab *s = slab_with_room(p);
    struct page *page = &s->pages[take_free_page(s)];

    move_slab(s, s->free_count > 0 ? &p->partial : &p->full);
    assert(pool_ok(p));
    page->class = class;
    page->free = UINT64_MAX >> (64 - SLAB_PAGE / class_size(class));
    list_append(&p->pages[class], &page->link);
    return page;
}

static void close_page(struct slab_pool *p, struct slab *s, size_t index)
{
    assert((s->free_pages[index / 64] >> index % 64 & 1) == 0);
    list_remove(&s->pages[index].link);
    s->free_pages[index / 64] |= (uint64_t)1 << index % 64;
    s->free_count++;
    move_slab(s, s->free_count < SLAB_PAGES - 1 ? &p->partial : &p->empty);
}

static void *take_chunk(struct slab_pool *p, unsigned class)
{
    struct list_link *l = list_first(&p->pages[class]);
    struct page *page = l != NULL ? LIST_MEMBER(l, struct page, link) : open_page(p, class);
    struct slab *s = slab_of(page);
    unsigned bit = (unsigned)__builtin_ctzll(page->free);
    char *chunk = page_memory(s, (size_t)(page - s->pages)) + bit * class_size(class);

    page->free &= page->free - 1;
    if (page->free == 0)
        list_remove(&page->link);
    ASAN_UNPOISON(chunk, class_size(class));
    return chunk;
}

static void give_chunk(struct slab_pool *p, char *chunk, unsigned class)
{
    struct slab *s = slab_of(chunk);
    size_t index = (size_t)(chunk - (char *)s) / SLAB_PAGE;
    struct page *page = &s->pages[index];
    size_t offset = (size_t)(chunk - page_memory(s, index));
    uint64_t bit = (uint64_t)1 << offset / class_size(class);

    assert(s->pool == p && page->class == class && offset % class_size(class) == 0);
    assert((page->free & bit) == 0);
    if (page->free == 0)
        list_append(&p->pages[class], &page->link);
    page->free |= bit;
    ASAN_POISON(chunk, class_size(class));
    if (page->free == UINT64_MAX >> (64 - SLAB_PAGE / class_size(class)))
        close_page(p, s, index);
}

void *slab_take(struct slab_pool *p, size_t size)
{
    size_t rounded = slab_round(size);

    p->used += rounded;
    if (rounded <= SLAB_CHUNK_MAX)
        return take_chunk(p, class_of(rounded));
    p->mapped += rounded;
    return mem_alloc(rounded);
}

void slab_give(struct slab_pool *p, void *piece, size_t size)
{
    size_t rounded = slab_round(size);

    assert(p->used >= rounded);
    p->used -= rounded;
    if (rounded <= SLAB_CHUNK_MAX) {
        give_chunk(p, piece, class_of(rounded));
        return;
    }
    p->mapped -= rounded;
    mem_free(piece);
}

/* Stands at the start of a piece on a pile. */
struct slab_spent {
    struct slab_spent *next;
    size_t size;
};

_Static_assert(sizeof(struct slab_spent) <= SLAB_CHUNK_MIN, "it fits into any piece");

void slab_pile_put(struct slab_pile *pile, void *piece, size_t size)
{
    struct slab_spent *s = piece;

    assert(piece != NULL && size > 0);
    *s = (struct slab_spent){pile->first, size};
    pile->first = s;
}

void slab_give_pile(struct slab_pool *p, struct slab_pile *pile)
{
    struct slab_spent *next;

    for (struct slab_spent *s = pile->first; s != NULL; s = next) {
        next = s->next;
        slab_give(p, s, s->size);
    }
    pile->first = NULL;
}

size_t slab_used(const struct slab_pool *p)
{
    return p->used;
}

size_t slab_mapped(const struct slab_pool *p)
{
    return p->mapped;
}

size_t slab_trim(struct slab_pool *p, size_t keep)
{
    size_t before = p->mapped;

    LIST_EACH (&p->empty, struct slab, link, s) {
        if (p->mapped < SLAB_SIZE || p->mapped - SLAB_SIZE < keep)
            break;
        close_slab(p, s);
    }
    return before - p->mapped;
}
