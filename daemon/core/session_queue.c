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
static bool run_takes(const struct session_queued *run, const struct session_queued *e, bool new)
{
    return new && e->session == run->session + run->count + 1 &&
           e->opened == run->opened + run->count + 1;
}

/* `new`: a session that has one time. False: it would not stand in order. */
static bool line_put(struct session_queue *q, struct session_line *l, struct slab_pool *slab,
                     const struct session_queued *e, bool new)
{
    if (l->first != NULL && comes_before_last(l, e))
        return false;
    if (l->first != NULL && run_takes(line_last(l), e, new)) {
        line_last(l)->count++;
    } else {
        if (line_needs_piece(l))
            piece_add(q, l, slab);
        l->last->at[l->to++] = *e;
    }
    l->last_time = e->last;
    return true;
}

/* The next one of a run stands there by the one time that it had. If it has more by now,
 * its first is not later than that, and it will be put right: it is not its last. */
static void line_drop(struct session_queue *q, struct session_line *l, const struct session_pool *p)
{
    struct session_queued *run = line_first(l);

    if (run->count > 0) {
        run->count--;
        run->opened++;
        run->session++;
        run->last = session_at(p, run->session)->first;
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

static struct session_queued queued(const struct session_pool *p, uint32_t session)
{
    const struct session *s = session_at(p, session);
    return (struct session_queued){s->last, s->opened, session, 0};
}

static void put(struct session_queue *q, const struct session_pool *p, uint32_t session)
{
    struct session_queued e = queued(p, session);
    bool new = session_at(p, session)->first == e.last;

    for (int i = 0; i < SESSION_LINES; i++)
        if (line_put(q, &q->lines[i], p->slab, &e, new))
            return;
    heap_put(q, p->slab, e);
}

void session_queue_put(struct session_queue *q, const struct session_pool *p, uint32_t session)
{
    put(q, p, session);
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

bool session_queue_refresh(struct session_queue *q, const struct session_pool *p)
{
    uint32_t session = q->head.session;
    const struct session *s = session_at(p, session);

    if (session_is_part(s)) {
        session_queue_drop(q, p);
        return true;
    }
    if (s->last == q->head.last)
        return false;
    if (q->head_line == SESSION_LINES) {
        sink(q, queued(p, session));
    } else {
        drop_head(q, p);
        put(q, p, session);
    }
    find_head(q);
    return true;
}

static FETCH_INLINE void fetch_line(const struct session_line *l, const struct session_pool *p)
{
    const struct session_queued *run = line_first(l);
    const struct session_queued *end =
        l->first->at + (l->first == l->last ? l->to : l->first->capacity);

    for (uint32_t n = 0; run < end && n < FETCH_LINE; run++)
        for (uint32_t i = 0; i <= run->count && n < FETCH_LINE; i++, n++)
            __builtin_prefetch(session_at(p, run->session + i));
}

void session_queue_fetch(const struct session_queue *q, const struct session_pool *p)
{
    for (int i = 0; i < SESSION_LINES; i++)
        if (q->lines[i].first != NULL)
            fetch_line(&q->lines[i], p);
    for (uint64_t i = 0; i < FETCH_HEAP && i < q->heap_count; i++)
        __builtin_prefetch(session_at(p, heap_at(q, i)->session));
}
