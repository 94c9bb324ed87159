/*
 * core/window_bits: how finely windows and their panes are parted.
 *
 * A walk looks keys up within one partition, which is to fit a cache; a small window is not
 * worth parting. With bits b there are 2^b partitions, of which each record goes to one by the
 * top bits of its key's hash.
 */
#ifndef CORE_WINDOW_BITS_H
#define CORE_WINDOW_BITS_H

#include <stddef.h>

#include "core/pane.h"

/* A window that is this pane: how it should have been parted. */
unsigned window_bits_like(const struct pane *p);

/* How the panes of windows like this one should be parted. */
unsigned window_bits_of_panes(struct pane *const *panes, size_t count);

/* How to walk this one: as finely as the window should be, and as its panes allow. */
unsigned window_bits_to_walk(struct pane *const *panes, size_t count);

#endif
