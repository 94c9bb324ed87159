/*
 * model/batch: some rows on their way from a decoder into the engine.
 *
 * A decoder fills a batch; the engine judges all of its rows, column by column, and then takes
 * as many, in order, as it has room for. What a row points at (the bytes that were read, the
 * batch's own texts) is good until the batch is filled again or those bytes move.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define BATCH_ROWS    256
#define BATCH_NO_TIME INT64_MIN

/* Why a row cannot take part. The words for [rejects] are in the table of reject_word(). */
enum reject {
    REJECT_NONE,
    REJECT_FIELDS,     /* a wrong number of fields */
    REJECT_QUOTE,      /* broken quoting */
    REJECT_TYPE,       /* a value that is not of its type */
    REJECT_NUL,        /* a NUL byte */
    REJECT_TELNET,     /* a 0xFF byte */
    REJECT_TOO_LONG,   /* longer than max_line */
    REJECT_UNFINISHED, /* the connection broke within it */
    REJECT_HEADER,     /* its connection's header lacks or repeats a field */
    REJECT_EXPRESSION, /* where, key or timestamp failed (overflow, division by zero, ...) */
    REJECT_TIMESTAMP,  /* NULL, or further ahead of the clock than max_ahead */
    REJECT_JSON,       /* broken JSON, or no object */
    REJECT_UTF8,       /* bytes that are not UTF-8 (json) */
    REJECT_DUPLICATE,  /* a member that is there twice */
    REJECT_PATH,       /* a path goes through what is no object */
    REJECT_FRAMING,    /* octet counts: no count, or not one that can be */
    REJECT_ENVELOPE,   /* no header of syslog */
};
#define REJECTS 17

/* "fields", "quote", "type", "nul", "telnet", "too_long", "unfinished", "header",
 * "expression", "timestamp", "json", "utf8", "duplicate", "path", "framing", "envelope" */
const char *reject_word(enum reject r);

/* What is to become of a row, as far as that can be said before any store has seen it. */
enum verdict {
    VERDICT_TAKE,        /* it is to be stored, as it came: see model/record.h */
    VERDICT_TAKE_PACKED, /* it is to be stored, packed */
    VERDICT_FILTERED,    /* where is not true */
    VERDICT_UNMATCHED,   /* a NULL key that nobody will pad */
    VERDICT_REJECTED,    /* the row has its reject */
};
#define VERDICTS 5

struct row {
    struct bytes line; /* as received, without its line end; the first KiB of an over-long one */
    size_t consumed;   /* bytes of input up to the end of this row, from where the batch began */
    int32_t detail;    /* rejected or late: where batch.details has the sentence, -1: none */
    uint8_t reject;    /* enum reject; the engine too may set it */
    uint8_t
        verdict; /* enum verdict: TAKE, TAKE_PACKED or REJECTED, until the engine has judged it */
    bool late;   /* set by the engine: its fate is late */
};

struct feed;

struct batch {
    struct feed *feed; /* whose rows these are (model/watermark.h); NULL: the side's own */
    struct row rows[BATCH_ROWS];
    size_t count;
    size_t rejected;      /* how many rows have a reject */
    size_t late;          /* how many rows are late */
    size_t field_count;   /* of every row that is not rejected; set by batch_init */
    struct bytes *fields; /* owned: BATCH_ROWS * field_count canonical texts; a row that is
                           * rejected has none */
    struct buf scratch;   /* what fields point at that is not in the input bytes */
    struct buf details;   /* sentences for rejected rows, each with its NUL */

    /* The decoder's, if `timed`: what the field of struct input_format's times says, of rows
     * that it did not reject; BATCH_NO_TIME where that is NULL. Else, and where it takes times
     * away again, the engine's. */
    bool timed;
    int64_t times[BATCH_ROWS];

    /* The engine's columns (engine/judge), once the batch is `judged`, of rows to be stored. */
    bool judged;
    const struct bytes *keys; /* that of row i is keys[i * key_step]; BYTES_NULL for NULL */
    size_t key_step;
    uint32_t hashes[BATCH_ROWS];        /* of keys that are not NULL */
    struct bytes bodies[BATCH_ROWS];    /* of rows that are packed */
    struct bytes made_keys[BATCH_ROWS]; /* of computed keys: what `keys` points at */
    struct buf body_texts, key_texts;   /* what these two point at */
    size_t fetched;                     /* what storing rows up to here will touch was asked for */
};

void batch_init(struct batch *b, size_t field_count);
void batch_done(struct batch *b);
void batch_clear(struct batch *b);

static inline size_t batch_row_index(const struct batch *b, const struct row *r)
{
    return (size_t)(r - b->rows);
}

static inline struct bytes *batch_row_fields(const struct batch *b, const struct row *r)
{
    return b->fields + batch_row_index(b, r) * b->field_count;
}

/* Is this row to be stored? */
static inline bool batch_takes(const struct batch *b, size_t i)
{
    return b->rows[i].verdict <= VERDICT_TAKE_PACKED;
}

/* The sentence that says what was wrong with a rejected or late row; "" for none. */
const char *batch_detail(const struct batch *b, const struct row *r);

/* Rejects row `r` with a reason for people. */
void batch_reject(struct batch *b, struct row *r, enum reject why, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Marks row `r` late, with a sentence for people. */
void batch_mark_late(struct batch *b, struct row *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
