/*
 * join/window_join: windows aligned to the epoch, each a join of its own.
 *
 * Records are stored in panes (join/pane): a window is some of them. It fires when time
 * has come to its end: it is walked (join/window_walk), while records go into others. It
 * closes then too, or `grace` later; meanwhile a record that falls into it is stored, and
 * what it matches is told at once (join/late_probe). A pane goes with its last window.
 *
 * Results come in order of their causes: fires and closes by the instant at which they
 * became due, then by the window's end. A window that is due takes no record before it
 * has been walked: who has one for it has to pull first (PUSH_WORK_FIRST). So a walk or a
 * probe never sees a record that came after its cause.
 *
 * Tumbling windows without grace are over when they fire. So another thread can do that:
 * such a window goes out as a firing (join/firing), and comes back as news.
 *
 * Rules: semantics.md sections 1, 2 and 5b.
 */
#ifndef JOIN_WINDOW_JOIN_H
#define JOIN_WINDOW_JOIN_H

#include "join/firing.h"
#include "join/late_probe.h"
#include "join/near_miss.h"
#include "join/operator.h"
#include "join/pane.h"
#include "join/window_age.h"
#include "join/window_walk.h"
#include "model/instant.h"

struct window_join {
    struct operator_context context;
    int64_t early; /* a window that ends at e is due at e - early */
    struct stream_time reached;
    struct window_age open;     /* takes records */
    struct window_age *flushed; /* owned, the oldest first: goes before `open`; NULL */
    struct pane_shape shape;    /* how the window walked last would begin */
    struct window_walk walk;    /* over panes of the oldest age, as the probe */
    struct late_probe probe;
    struct near_miss near_miss; /* the walk and lone records tell it what was lost */
    struct firings out;         /* while there are any, walk and near_miss are theirs */
    uint64_t left_bytes;        /* windows of so many bytes wait to be detached */
    uint64_t bytes;             /* of all panes, but for those that are out */
    uint64_t chunks[SIDES];     /* of the same */
};

extern const struct operator operator_window;

#endif
