/*
 * flow/tell: what goes wrong with single records, told to [rejects], [late] and the log.
 */
#ifndef FLOW_TELL_H
#define FLOW_TELL_H

#include <stddef.h>

#include "base/bytes.h"
#include "flow/output.h"
#include "flow/source.h"
#include "io/log.h"
#include "model/batch.h"
#include "model/instant.h"

/* The rejected and the late rows of [from, to), which came from `s`, to those of `outputs`. */
void tell_rows(struct output *outputs, struct source *s, const struct batch *b, size_t from,
               size_t to, struct stream_time now);

/* A pair that gives no row: what fate_pair() says of it. */
void tell_pair(struct output *outputs, struct log_limit *limit, struct bytes detail,
               struct bytes line, struct stream_time now);

/* Once a connection: its header is of no use; its first bytes are another protocol's. */
void tell_header(struct source *s);
void tell_protocol(struct source *s, struct bytes start);

#endif
