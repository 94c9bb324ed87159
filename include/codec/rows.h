/*
 * codec/rows: lines of CSV -> rows of a batch: cut into fields, checked, canonical.
 *
 * Two ways to the same rows: many lines in one walk (codec/walk), and one record alone, whatever
 * is in it. The first leaves to the second all that is odd or bad.
 */
#ifndef CODEC_ROWS_H
#define CODEC_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "codec/columns.h"
#include "codec/input_format.h"
#include "codec/quoted.h"
#include "codec/scan.h"
#include "lang/value.h"
#include "model/batch.h"

/* A field that is no string, so that its text has to be checked. */
struct typed_field {
    size_t field;
    enum value_type type;
    size_t digits_in_range; /* see codec/digits.h */
    bool decimal;           /* a point may stand between the digits */
    bool is_time;           /* whose times the batch tells */
};

struct rows {
    const struct input_format *format; /* not owned */
    enum scan_way way;
    struct columns columns;
    struct typed_field *typed; /* owned */
    size_t typed_count;
    bool stamps;         /* the times that the batch tells are milliseconds: see base/stamp.h */
    struct buf sentence; /* that the next rejected row will have for its detail */
};

enum typing {
    TYPING_GOOD,
    TYPING_BAD,
    TYPING_NO_ROOM, /* in the scratch */
};

/* The format must outlive it. The columns are those of lines without a header. */
void rows_init(struct rows *r, const struct input_format *f);
void rows_done(struct rows *r);

/* For tests, which want all ways: those that are initialised from now on scan in no
 * better way than this, which without a word is the best. */
void rows_scan_at_best(enum scan_way way);

/* Takes whole lines of bytes[at .. n) as rows, as far as the batch has room, up to
 * the first one that needs a closer look (odd bytes, bad, not finished), and
 * returns where that one starts. */
size_t rows_take_plain(struct rows *r, struct batch *b, const char *bytes, size_t n, size_t at);

/* Takes one whole record, good or bad, that ends at `consumed`. False: the batch
 * has to end before it, because its scratch would have to move. Never if it is empty. */
bool rows_take_record(struct rows *r, struct batch *b, struct bytes line, size_t consumed);

/* Adds a rejected row, whose detail is r->sentence; that is empty again afterwards. */
void rows_reject(struct rows *r, struct batch *b, struct bytes line, size_t consumed,
                 enum reject why);

/* Is there a byte that no record may hold (or, of CSV, not there)? If so, the sentence is made. */
enum reject rows_judge_bytes(struct rows *r, struct bytes line);

/* Checks the fields that are no strings and makes them canonical; *ret_bad is set to the
 * one that is bad, *ret_time to what the batch tells of the row. Never without room, if there
 * was enough for their texts and CANONICAL_ROOM more for each. */
enum typing rows_type_fields(const struct rows *r, struct batch *b, struct bytes *fields,
                             size_t *ret_bad, int64_t *ret_time);

/* Cuts a record that has no such byte; as quoted_cut(), but quotes need not be there. */
bool rows_cut(const struct rows *r, struct bytes record, struct buf *scratch,
              const struct quoted_sink *sink);

#endif
