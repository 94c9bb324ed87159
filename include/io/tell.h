/*
 * io/tell: what goes wrong with single records, told to [rejects], [late] and the log.
 */
#ifndef IO_TELL_H
#define IO_TELL_H

#include <stddef.h>

#include "base/bytes.h"
#include "core/batch.h"
#include "core/engine.h"
#include "core/instant.h"
#include "io/source.h"

struct pump;

/* The rejected and the late rows of [from, to), which came from `s`. */
void tell_rows(struct pump *p, struct source *s, const struct batch *b, size_t from, size_t to,
               struct stream_time now);

/* A result that cannot be made: `on` failed, or a column of select. */
void tell_pair(struct pump *p, const struct result *r);

/* Once a connection: its header is of no use; its first bytes are another protocol's. */
void tell_header(struct source *s);
void tell_protocol(struct source *s, struct bytes start);

#endif
