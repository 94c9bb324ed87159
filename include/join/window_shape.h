/*
 * join/window_shape: how finely windows and their panes are parted, and in how large pieces
 * they grow.
 *
 * A walk looks keys up within one partition, which is to fit a cache; a small window is not
 * worth parting. With bits b there are 2^b partitions, of which each record goes to one by the
 * top bits of its key's hash.
 *
 * A window that grows from nothing begins with small chunks, and takes many. Most windows come
 * to be like the one before: they begin with such chunks as that would have taken last.
 */
#ifndef JOIN_WINDOW_SHAPE_H
#define JOIN_WINDOW_SHAPE_H

#include <stddef.h>

#include "join/pane.h"

/* A window that is this pane: how it should have begun. */
struct pane_shape window_shape_like(const struct pane *p);

/* How the panes of windows like this one should begin. */
struct pane_shape window_shape_of_panes(struct pane *const *panes, size_t count);

/* In how many bits to walk this one: as finely as the window should be, and its panes allow. */
unsigned window_shape_to_walk(struct pane *const *panes, size_t count);

#endif
