/*
 * codec/json_rows: one line of JSON -> a row of a batch: read, checked, canonical.
 *
 * A row of JSON is never verbatim: it is stored packed (model/record.h).
 */
#ifndef CODEC_JSON_ROWS_H
#define CODEC_JSON_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "codec/json.h"
#include "codec/rows.h"
#include "model/batch.h"

/* Takes one record, good or bad, that ends at `consumed`. Types and sentence are those of
 * `r`. False: as rows_take_record(). */
bool json_rows_take(struct json *j, struct rows *r, struct batch *b, struct bytes line,
                    size_t consumed);

#endif
