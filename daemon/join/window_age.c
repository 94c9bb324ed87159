#include "join/window_age.h"

#include <assert.h>

void window_age_init(struct window_age *a, int64_t fired, int64_t closed)
{
    assert(closed <= fired);
    *a = (struct window_age){.fired = fired, .closed = closed};
    lone_init(&a->lone);
}

/* No window closes before it has fired. */
static bool window_age_ok(const struct window_age *a)
{
    return a->closed <= a->fired;
}

void window_age_done(struct window_age *a, struct slab_pool *pool)
{
    assert(window_age_ok(a));
    pane_list_done(&a->panes, pool);
    lone_done(&a->lone);
}

static void take_earlier(struct window_turn *turn, enum window_work work, int64_t instant,
                         int64_t end)
{
    if (turn->work == WORK_NONE || instant < turn->instant ||
        (instant == turn->instant && end < turn->end))
        *turn = (struct window_turn){work, instant, end};
}

struct window_turn window_age_next_window(const struct window_age *a, const struct plan *plan,
                                          int64_t fired, int64_t closed)
{
    int64_t fire = pane_list_next_end(&a->panes, plan, fired), close = PANE_NO_WINDOW;
    struct window_turn turn = {.work = WORK_NONE, .instant = INT64_MAX};

    if (plan->grace_ms > 0)
        close = pane_list_next_end(&a->panes, plan, closed);
    if (fire != PANE_NO_WINDOW)
        take_earlier(&turn, WORK_FIRE, fire, fire);
    if (close != PANE_NO_WINDOW)
        take_earlier(&turn, WORK_CLOSE, close + plan->grace_ms, close);
    return turn;
}

static void take_lone(struct window_turn *turn, int64_t t)
{
    if (t != INT64_MAX)
        take_earlier(turn, WORK_LONE, t + 1, t + 1);
}

struct window_turn window_age_turn(const struct window_age *a, const struct plan *plan, int64_t now)
{
    struct window_turn turn = window_age_next_window(a, plan, a->fired, a->closed);

    assert(window_age_ok(a));
    take_lone(&turn, lone_first(&a->lone));
    if (turn.instant > now)
        turn.work = WORK_NONE;
    return turn;
}

int64_t window_age_due(const struct window_age *a, const struct plan *plan, int64_t now,
                       int64_t closes)
{
    struct window_turn turn = window_age_next_window(a, plan, a->fired > now ? a->fired : now,
                                                     a->closed > closes ? a->closed : closes);

    assert(window_age_ok(a) && closes <= now);
    take_lone(&turn, lone_first_from(&a->lone, now));
    return turn.instant;
}

uint64_t window_age_bytes(const struct window_age *a)
{
    return pane_list_bytes(&a->panes) + lone_bytes(&a->lone);
}

uint64_t window_age_held(const struct window_age *a, enum side side)
{
    uint64_t held = a->lone.held[side];

    for (size_t i = 0; i < a->panes.count; i++)
        held += pane_list_at(&a->panes, i)->side[side].undecided;
    return held;
}

void window_age_list(const struct window_age *a, enum side side, const struct held_listener *to)
{
    lone_list(&a->lone, side, to);
    for (size_t i = 0; i < a->panes.count; i++)
        pane_tell(pane_list_at(&a->panes, i), side, to);
}
