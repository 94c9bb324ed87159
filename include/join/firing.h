/*
 * join/firing: a window that is due, taken out of the engine, for another thread to fire.
 *
 * A window that fires is closed: no record goes into it any more. So its walk needs nothing
 * of the engine but a place to count, and that is the news:
 *
 *     engine's thread                          the other one
 *
 *     engine_detach()    --- firing --->       firing_pull(), again and again,
 *                                              until firing_is_over()
 *     engine_settle()    <---- news ----       what it has counted meanwhile
 *
 * Several may be out. They are pulled one at a time, in the order in which they were
 * detached, and news are settled in the order in which they were made. Until then what a
 * firing holds counts as held, and as state, as it was last known: so the books balance at
 * every instant.
 *
 * There is no thread in here, nor a lock: a firing and news are handed over by somebody who
 * sees to it that one side at a time has them (flow/second). The walk, its tables and what is
 * kept of lost records are the operator's, and lent: they belong to who pulls firings while
 * any are out, and the engine does not look at them then.
 */
#ifndef JOIN_FIRING_H
#define JOIN_FIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "join/near_miss.h"
#include "join/pane.h"
#include "join/window_walk.h"
#include "lang/side.h"
#include "model/books.h"
#include "model/lag.h"
#include "model/result.h"

/* What was counted and is not settled yet. */
struct firing_news {
    struct books books;     /* fates, results and near misses: how many more */
    struct lag lag;         /* of pairs and near misses: more */
    struct slab_pile spent; /* memory to be given back */
    uint64_t decided[SIDES];
    uint64_t bytes;        /* of state that firings hold no longer */
    uint64_t tables_bytes; /* what the walk and the near misses hold themselves by now */
    bool pulled;           /* any of this is set */
    size_t over;           /* so many firings, the first of those that were out, are over */
};

struct firing_news *firing_news_new(void);
void firing_news_free(struct firing_news *n); /* settled; NULL is fine */

struct firing {
    struct window_walk *walk; /* the operator's, as the next */
    struct near_miss *near_miss;
    struct pane *pane; /* owned: the window */
    int64_t end;
    bool begun, over;
    struct firing *next; /* owned: the one that was detached after it */
};

/* As engine_pull(), of this window; counted in `news`. When it is over it gives nothing, and
 * may be gone as soon as the news are settled. */
size_t firing_pull(struct firing *f, struct firing_news *news, struct result *ret, size_t max,
                   int64_t *fuel);

/* What it holds of state. */
static inline uint64_t firing_bytes(const struct firing *f)
{
    return pane_bytes(f->pane);
}

static inline bool firing_is_over(const struct firing *f)
{
    return f->over;
}

/* As engine_reject_result(). */
void firing_reject_result(struct firing_news *news, const struct result *r);

/* --- for the operator --- */

/* Those that are out, as last known. */
struct firings {
    struct firing *first, *last; /* owned; NULL: none is */
    uint64_t bytes;              /* of state, without the tables */
    uint64_t tables_bytes;
    uint64_t held[SIDES];
};

/* Takes the pane, a whole window. */
struct firing *firings_add(struct firings *s, struct window_walk *w, struct near_miss *n,
                           struct pane *pane);
void firings_settle(struct firings *s, struct slab_pool *pool, struct firing_news *news);
void firings_done(struct firings *s, struct slab_pool *pool);

static inline bool firings_any(const struct firings *s)
{
    return s->first != NULL;
}

static inline uint64_t firings_bytes(const struct firings *s)
{
    return s->bytes + s->tables_bytes;
}

/* Tells of their records; only while nobody pulls, and all news are settled. */
void firings_list(const struct firings *s, enum side side, const struct held_listener *to);

#endif
