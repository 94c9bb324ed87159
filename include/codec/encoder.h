/*
 * codec/encoder: results -> rows of text, CSV or JSON lines.
 *
 * The select of an output is compiled once. Where it only takes fields, a row is
 * byte ranges copied from the two records; a verbatim CSV line is copied whole
 * where input and output are written alike.
 *
 * Rules: interface.md section 3 ("Output of values") and section 2, [output].
 */
#ifndef CODEC_ENCODER_H
#define CODEC_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "lang/expr.h"
#include "model/plan.h"
#include "model/result.h"

enum output_kind { OUTPUT_CSV, OUTPUT_JSON };

/* How an output is written. Owned by the configuration. */
struct output_format {
    enum output_kind kind;
    bool header;             /* csv: each connection or file starts with the names */
    char delimiter;          /* csv */
    struct bytes null_text;  /* csv */
    struct expr_list select; /* bound; each item's `name` is set to its column's name */
};

struct encoder;

/* Both must outlive the encoder. */
struct encoder *encoder_new(const struct output_format *f, const struct plan *plan);
void encoder_free(struct encoder *e);

/* Appends the header line, if the format has one. */
void encoder_header(const struct encoder *e, struct buf *to);

/* Appends the rows of results, each with its LF, while `to` has less than `full` bytes. Returns
 * how many it has appended. The next one is not a row (RESULT_FAILED), or it cannot be made (an
 * expression failed), where `to` is not full. */
size_t encoder_results(struct encoder *e, const struct result *results, size_t n, size_t full,
                       struct buf *to);

/* Appends which column of the row that could not be made failed, and why. */
void encoder_failure(const struct encoder *e, struct buf *to);

/* --- the rows of [late] and [rejects] --- */

/* Columns: side,reason,detail,time,line. */
struct fate_row {
    const char *side;    /* left, right or pair */
    const char *reason;  /* reject_word(), or "late" */
    struct bytes detail; /* what, and from which peer */
    int64_t time_ms;     /* of arrival */
    struct bytes line;   /* as received */
};

/* Only kind, header, delimiter and null_text of `f` count. */
void fate_header(const struct output_format *f, struct buf *to);
void fate_row(const struct output_format *f, const struct fate_row *r, struct buf *to);

/* Of a pair that gives no row, because `on` failed, or a column of select as `e` has it: the detail
 * and the line to tell, appended. */
void fate_pair(const struct plan *plan, const struct encoder *e, const struct result *r,
               struct buf *detail, struct buf *line);

#endif
