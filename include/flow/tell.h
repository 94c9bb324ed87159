/*
 * flow/tell: what goes wrong with single records, told to [rejects], [late] and the log.
 */
#ifndef FLOW_TELL_H
#define FLOW_TELL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "codec/encoder.h"
#include "engine/engine.h"
#include "flow/source.h"
#include "model/batch.h"
#include "model/instant.h"
#include "model/plan.h"

struct pump;

/* The rejected and the late rows of [from, to), which came from `s`. */
void tell_rows(struct pump *p, struct source *s, const struct batch *b, size_t from, size_t to,
               struct stream_time now);

/* A result that cannot be made: `on` failed, or a column of select. */
void tell_pair(struct pump *p, const struct result *r);

/* The same in two steps, of which the first may be another thread's: appends what is to be
 * told. `e` is who could not make the row. */
void tell_pair_words(const struct plan *plan, const struct encoder *e, const struct result *r,
                     struct buf *detail, struct buf *line);
void tell_pair_rejected(struct pump *p, struct bytes detail, struct bytes line);

/* Once a connection: its header is of no use; its first bytes are another protocol's. */
void tell_header(struct source *s);
void tell_protocol(struct source *s, struct bytes start);

#endif
