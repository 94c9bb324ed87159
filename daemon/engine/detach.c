/* Windows that another thread fires. See engine/engine.h. */
#include <assert.h>

#include "engine/inner.h"
#include "join/firing.h"

void engine_leave(struct engine *e, uint64_t bytes)
{
    assert(plan_detaches(e->plan));
    e->operator->leave(e->self, bytes);
}

struct firing *engine_detach(struct engine *e, uint64_t least_bytes)
{
    return plan_detaches(e->plan) ? e->operator->detach(e->self, least_bytes) : NULL;
}

void engine_settle(struct engine *e, struct firing_news *news)
{
    books_add_fired(&e->books, &news->books);
    news->books = (struct books){0};
    lag_move(&e->lag, &news->lag, NEAR_MISS_WINDOWS * e->plan->size_ms);
    e->operator->settle(e->self, news);
    engine_look_for_room(e);
}
