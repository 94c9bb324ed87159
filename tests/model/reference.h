/*
 * model/reference: what a tumbling window join is, in nested loops.
 *
 * Written from the rules (semantics.md sections 1, 2 and 7, interface.md section 5)
 * and from nothing else: it includes no header of joind and shares no code with
 * it. It is as slow and as plain as it can be, so that it can be believed.
 *
 * Records come with what the rules ask of them: is it readable, what `where` and
 * `on` say, the values of its key. Results are told by the numbers that the
 * caller gave the records. Times are milliseconds and never go back.
 */
#ifndef MODEL_REFERENCE_H
#define MODEL_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#define REF_KEYS_MAX 2
#define REF_NOBODY   (-1)

enum ref_type { REF_INNER, REF_LEFT, REF_RIGHT, REF_FULL, REF_SEMI, REF_ANTI };
enum ref_side { REF_SIDE_LEFT, REF_SIDE_RIGHT };
enum ref_truth { REF_FALSE, REF_TRUE, REF_UNKNOWN };

enum ref_value_kind { REF_NULL, REF_TEXT, REF_WHOLE, REF_REAL };

struct ref_value {
    enum ref_value_kind kind;
    const char *text; /* not owned; outlives the reference */
    long long whole;
    double real;
};

struct ref_plan {
    enum ref_type type;
    long long size, offset;
    int keys;                       /* parts of the key; 0: all records have the same */
    bool key_is_real[REF_KEYS_MAX]; /* one of the two sides has doubles there */
    bool where[2];
    int on; /* the side whose field decides; REF_NOBODY: no condition */
};

struct ref_record {
    enum ref_side side;
    int id;   /* the caller's */
    bool bad; /* it cannot be read */
    enum ref_truth where, on;
    struct ref_value key[REF_KEYS_MAX];
};

enum ref_kind { REF_PAIR, REF_PADDED_LEFT, REF_PADDED_RIGHT, REF_SEMI_ROW, REF_ANTI_ROW };

struct ref_result {
    enum ref_kind kind;
    long long start, end;
    int group; /* results of one key of one window; never going back */
    int left, right;
};

struct ref_books {
    long received, rejected, filtered, matched, unmatched, held;
};

struct reference;

struct reference *ref_new(const struct ref_plan *plan);
void ref_free(struct reference *r);

void ref_time(struct reference *r, long long now);
void ref_take(struct reference *r, const struct ref_record *record, long long now);
void ref_end(struct reference *r, enum ref_side side);

/* What has been caused since the start: all of it, at once. */
const struct ref_result *ref_results(const struct reference *r, size_t *ret_count);
struct ref_books ref_books(const struct reference *r, enum ref_side side);

/* The end of the first window that is open; false: there is none. */
bool ref_due(const struct reference *r, long long *ret_end);

#endif
