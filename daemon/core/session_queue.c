#include "core/session_queue.h"

#include "base/fetch.h"

#define PAGE_PLACES HEAP_PAGE_PLACES(struct session_queued)
#define BRANCHES    4
/* Places of the heap before this one are in the caches. */
#define FETCH_FROM 4096
/* So many of each line are fetched, and of the heap its top. */
#define FETCH_LINE 8
#define FETCH_HEAP 5

void session_queue_init(struct session_queue *q)
{
    *q = (struct session_queue){0};
    heap_pages_init(&q->heap, sizeof(struct session_queued));
}

static bool comes_before(const struct session_queued *a, const struct session_queued *b)
{
    return a->last != b->last ? a->last < b->last : a->opened < b->opened;
}

/* --- lines --- */

static struct session_queued *line_first(const struct session_line *l)
{
    return &l->first->at[l->from];
}

static struct session_queued *line_last(const struct session_line *l)
{
    return &l->last->at[l->to - 1];
}

static bool line_needs_piece(const struct session_line *l)
{
    return l->first == NULL || l->to == l->last->capacity;
}

/* An eighth to a quarter of what is there. */
static size_t next_piece_size(const struct session_queue *q)
{
    uint64_t wish = q->line_bytes / 8;
    return slab_round(wish > SLAB_CHUNK_MAX ? SLAB_CHUNK_MAX : wish);
}

static void piece_add(struct session_queue *q, struct session_line *l, struct slab_pool *slab)
{
    size_t size = next_piece_size(q);
    struct session_piece *piece = slab_take(slab, size);

    piece->next = NULL;
    piece->size = (uint32_t)size;
    piece->capacity = (uint32_t)((size - sizeof(*piece)) / sizeof(piece->at[0]));
    if (l->first == NULL) {
        l->first = piece;
        l->from = 0;
    } else {
        l->last->next = piece;
    }
    l->last = piece;
    l->to = 0;
    q->line_bytes += size;
}

static void piece_drop(struct session_queue *q, struct session_line *l, struct slab_pool *slab)
{
    struct session_piece *piece = l->first;

    l->first = piece->next;
    l->from = 0;
    if (l->first == NULL)
        l->last = NULL;
    q->line_bytes -= piece->size;
    slab_give(slab, piece, piece->size);
}

/* It would not stand in order behind all that are there. */
static bool comes_before_last(const struct session_line *l, const struct session_queued *e)
{
    const struct session_queued *run = line_last(l);
    struct session_queued last = {.last = l->last_time, .opened = run->opened + run->count};

    return comes_before(e, &last);
}

/* By what one of a run stands in it is not written down: line_drop(). */
static bool run_takes(const struct session_queued *run, const struct session_pool *p,
                      const struct session_queued *e)
{
    return e->session == run->session + run->count + 1 &&
           e->opened == run->opened + run->count + 1 && e->last == session_first(p, e->session);
}

/* False: it would not stand in order. */
static bool line_put(struct session_queue *q, struct session_line *l, const struct session_pool *p,
                     const struct session_queued *e)
{
    if (l->first != NULL && comes_before_last(l, e))
        return false;
    if (l->first != NULL && run_takes(line_last(l), p, e)) {
        line_last(l)->count++;
    } else {
        if (line_needs_piece(l))
            piece_add(q, l, p->slab);
        l->last->at[l->to++] = *e;
    }
    l->last_time = e->last;
    return true;
}

/* The next one of a run stands there by its first time when it came. If it has an earlier one
 * by now, it is no matter: it has a later one too, and will be put right. */
static void line_drop(struct session_queue *q, struct session_line *l, const struct session_pool *p)
{
    struct session_queued *run = line_first(l);

    if (run->count > 0) {
        run->count--;
        run->opened++;
        run->session++;
        run->last = session_first(p, run->session);
    } else if (++l->from == (l->first == l->last ? l->to : l->first->capacity)) {
        piece_drop(q, l, p->slab);
    }
}

/* --- the heap --- */

static struct session_queued *heap_at(const struct session_queue *q, uint64_t i)
{
    return (struct session_queued *)q->heap.at[i / PAGE_PLACES] + i % PAGE_PLACES;
}

static void heap_put(struct session_queue *q, struct slab_pool *slab, struct session_queued e)
{
    uint64_t i = q->heap_count, above;

    heap_pages_widen(&q->heap, slab, q->heap_count);
    q->heap_count++;
    while (i > 0 && comes_before(&e, heap_at(q, above = (i - 1) / BRANCHES))) {
        *heap_at(q, i) = *heap_at(q, above);
        i = above;
    }
    *heap_at(q, i) = e;
}

/* Whichever of these four it will be, its own four are looked at next. */
static FETCH_INLINE void fetch_branches(const struct session_queue *q, uint64_t from)
{
    if (from < FETCH_FROM || BRANCHES * (from + BRANCHES) >= q->heap_count)
        return;
    for (uint64_t i = 1; i <= BRANCHES * BRANCHES; i += 2)
        __builtin_prefetch(heap_at(q, BRANCHES * from + i));
}

/* The first of the branches of `i`, or the count. */
static uint64_t first_branch(const struct session_queue *q, uint64_t i)
{
    uint64_t from = BRANCHES * i + 1, first = from, to = from + BRANCHES;

    if (from >= q->heap_count)
        return q->heap_count;
    fetch_branches(q, from);
    for (uint64_t j = from + 1; j < (to < q->heap_count ? to : q->heap_count); j++)
        if (comes_before(heap_at(q, j), heap_at(q, first)))
            first = j;
    return first;
}

/* Moves `e` from the free place at the top to where it belongs. */
static void sink(struct session_queue *q, struct session_queued e)
{
    uint64_t i = 0, branch;

    while ((branch = first_branch(q, i)) < q->heap_count && comes_before(heap_at(q, branch), &e)) {
        *heap_at(q, i) = *heap_at(q, branch);
        i = branch;
    }
    *heap_at(q, i) = e;
}

static void heap_drop(struct session_queue *q, struct slab_pool *slab)
{
    struct session_queued last = *heap_at(q, --q->heap_count);

    if (q->heap_count > 0)
        sink(q, last);
    heap_pages_shrink(&q->heap, slab, q->heap_count);
}

/* --- all of them --- */

void session_queue_done(struct session_queue *q, const struct session_pool *p)
{
    for (int i = 0; i < SESSION_LINES; i++)
        while (q->lines[i].first != NULL)
            piece_drop(q, &q->lines[i], p->slab);
    heap_pages_done(&q->heap, p->slab);
    session_queue_init(q);
}

uint64_t session_queue_need(const struct session_queue *q)
{
    bool line = line_needs_piece(&q->lines[0]) || line_needs_piece(&q->lines[1]);
    uint64_t piece = line ? next_piece_size(q) : 0;
    uint64_t heap = heap_pages_growth(&q->heap, q->heap_count);

    return piece > heap ? piece : heap;
}

static void find_head(struct session_queue *q)
{
    const struct session_queued *head = NULL;

    for (unsigned i = 0; i < SESSION_LINES; i++) {
        const struct session_line *l = &q->lines[i];
        if (l->first == NULL || (head != NULL && comes_before(head, line_first(l))))
            continue;
        head = line_first(l);
        q->head_line = i;
    }
    if (q->heap_count > 0 && (head == NULL || comes_before(heap_at(q, 0), head))) {
        head = heap_at(q, 0);
        q->head_line = SESSION_LINES;
    }
    if (head != NULL)
        q->head = *head;
}

static void put(struct session_queue *q, const struct session_pool *p, struct session_queued e)
{
    e.count = 0;
    for (int i = 0; i < SESSION_LINES; i++)
        if (line_put(q, &q->lines[i], p, &e))
            return;
    heap_put(q, p->slab, e);
}

void session_queue_put(struct session_queue *q, const struct session_pool *p, uint32_t session,
                       int64_t last)
{
    put(q, p, (struct session_queued){last, session_at(p, session)->opened, session, 0});
    q->count++;
    find_head(q);
}

static void drop_head(struct session_queue *q, const struct session_pool *p)
{
    if (q->head_line < SESSION_LINES)
        line_drop(q, &q->lines[q->head_line], p);
    else
        heap_drop(q, p->slab);
}

void session_queue_drop(struct session_queue *q, const struct session_pool *p)
{
    assert(q->count > 0);
    drop_head(q, p);
    q->count--;
    find_head(q);
}

void session_queue_move(struct session_queue *from, struct session_queue *to,
                        const struct session_pool *p)
{
    put(to, p, from->head);
    to->count++;
    find_head(to);
    session_queue_drop(from, p);
}

bool session_queue_refresh(struct session_queue *q, const struct session_pool *p)
{
    struct session_queued e = q->head;

    if (session_is_part(p, e.session)) {
        session_queue_drop(q, p);
        return true;
    }
    e.last = session_last(p, e.session);
    if (e.last == q->head.last)
        return false;
    if (q->head_line == SESSION_LINES) {
        sink(q, e);
    } else {
        drop_head(q, p);
        put(q, p, e);
    }
    find_head(q);
    return true;
}

/* Of a run only what its first one ends by is written down. */
static size_t line_coming(const struct session_line *l, int64_t last, uint32_t *ret)
{
    const struct session_queued *run = line_first(l);
    const struct session_queued *end =
        l->first->at + (l->first == l->last ? l->to : l->first->capacity);
    size_t n = 0;

    for (; run < end && run->last <= last && n < FETCH_LINE; run++)
        for (uint32_t i = 0; i <= run->count && n < FETCH_LINE; i++)
            ret[n++] = run->session + i;
    return n;
}

/* Passes over all: what each one reads was fetched by the one before. */
void session_queue_fetch(const struct session_queue *q, const struct session_pool *p, int64_t last)
{
    uint32_t coming[SESSION_LINES * FETCH_LINE + FETCH_HEAP];
    size_t n = 0;

    for (int i = 0; i < SESSION_LINES; i++)
        if (q->lines[i].first != NULL)
            n += line_coming(&q->lines[i], last, coming + n);
    for (uint64_t i = 0; i < FETCH_HEAP && i < q->heap_count; i++)
        if (heap_at(q, i)->last <= last)
            coming[n++] = heap_at(q, i)->session;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(session_at(p, coming[i]));
    for (size_t i = 0; i < n; i++)
        session_fetch_last(p, coming[i]);
    for (size_t i = 0; i < n; i++)
        session_fetch_first(p, coming[i]);
}
