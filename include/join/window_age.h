/*
 * join/window_age: the panes of window joins, and which window's turn it is.
 *
 * A window fires, and `grace` later it closes; without grace both at once. What is due comes
 * in order of the instant at which it became due, then of the window's end; a record that
 * lies between windows (join/lone) comes as a window would that ends right behind it.
 *
 * What was held when a flush was asked for is an age of its own: its time has ended, and
 * records that come later do not meet it.
 *
 * Times here are ends of windows: time is past an end e when the window must fire.
 */
#ifndef JOIN_WINDOW_AGE_H
#define JOIN_WINDOW_AGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "join/lone.h"
#include "join/pane.h"
#include "lang/side.h"
#include "model/plan.h"

struct window_age {
    struct pane_list panes;
    struct lone_records lone;
    int64_t fired, closed;   /* windows that end up to here have been walked */
    struct window_age *next; /* owned: the one that was flushed after it */
};

void window_age_init(struct window_age *a, int64_t fired, int64_t closed);
void window_age_done(struct window_age *a, struct slab_pool *pool);

enum window_work { WORK_NONE, WORK_FIRE, WORK_CLOSE, WORK_LONE };

struct window_turn {
    enum window_work work;
    int64_t instant; /* the end that time has to be past; INT64_MAX with WORK_NONE */
    int64_t end;     /* of the window, or of a lone record's own moment */
};

/* The next window, of those that end after `fired`, or `closed`, due or not. */
struct window_turn window_age_next_window(const struct window_age *a, const struct plan *plan,
                                          int64_t fired, int64_t closed);

/* What is to be done now that time is past the end `now`; WORK_NONE: nothing. */
struct window_turn window_age_turn(const struct window_age *a, const struct plan *plan,
                                   int64_t now);

/* When there will be something, of what is not due yet; INT64_MAX: never. `closes`: windows
 * that end up to there are due to close. */
int64_t window_age_due(const struct window_age *a, const struct plan *plan, int64_t now,
                       int64_t closes);

/* The first pane's last window is closed: it can go. */
static inline bool window_age_has_spent(const struct window_age *a)
{
    return a->panes.count > 0 && pane_list_at(&a->panes, 0)->last_end <= a->closed;
}

static inline bool window_age_is_empty(const struct window_age *a)
{
    return a->panes.count == 0 && a->lone.due.count == 0 && a->lone.given == NULL;
}

/* But for what panes themselves have allocated. */
uint64_t window_age_bytes(const struct window_age *a);

uint64_t window_age_held(const struct window_age *a, enum side side);
/* Tells of the records of a side. */
void window_age_list(const struct window_age *a, enum side side, const struct held_listener *to);

#endif
