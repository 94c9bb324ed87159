/*
 * config/lines: the text of an INI file -> its sections and keys, with places.
 *
 * Here the form of a file is judged, by the rules of interface.md section 2:
 *
 *     [section]         comments may follow, nothing else
 *     key = value       `:` does not separate
 *       more            an indented line goes on with the value above: one space
 *                       joins them. It cannot begin with a key of its section and
 *                       `=`: that is a key that was indented by mistake
 *     ; or # comment    at the start of a line, indented or not
 *     key = value ; x   a `;` after a space ends a value, unless within a pair of
 *                       quotes, of either kind, that stand on the same line. A value
 *                       may begin with `;`
 *
 * inih parses: its reader callback hands it the lines of the text, one by one, and for
 * each it calls back with the key and the value. Places are those of the line that it has.
 * Seen to before it gets a line, because it does not: NUL (which would hide the rest),
 * control characters, lines longer than its buffer, lines that are indented by mistake; and
 * sections, of which it tells only with their keys and cut, a broken one not at all. Seen to
 * behind it: `:`, which it takes for `=`; a line without either; the comment behind a value,
 * where it would not know quotes.
 *
 * Lines end with LF or CRLF; the last one needs no end. A UTF-8 BOM at the start is
 * passed over. NUL and other control characters but the tab are refused, and
 * lines of more than LINE_MAX_BYTES.
 */
#ifndef CONFIG_LINES_H
#define CONFIG_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/keys.h"
#include "config/report.h"

#define LINE_MAX_BYTES (16 * 1024)
#define NAME_MAX_BYTES 49 /* of a section or key: inih cuts what is longer */

/* Part of a value that stands on one line. */
struct value_piece {
    size_t start; /* in the value */
    struct place place;
};

struct ini_value {
    struct buf text;
    struct value_piece *pieces; /* owned */
    size_t piece_count;
};

void ini_value_done(struct ini_value *v);

/* Where the byte at `offset` of the value stands in the file. */
struct place ini_value_place(const struct ini_value *v, size_t offset);

/* Would an indented line with this text be taken for a key of its section, and not go
 * on with the value above? */
bool ini_begins_with_key(enum section section, struct bytes text);

/* A [section] or a key with its value, comments off and lines joined. */
struct ini_line {
    bool is_section;
    char *name; /* owned */
    struct place place;
    struct ini_value value; /* of a key */
};

struct ini_lines {
    struct ini_line *items; /* owned */
    size_t count;
};

/* Reads all that can be read; what cannot is reported and left out, with the lines
 * that belong to it. */
void ini_lines_read(struct bytes text, const struct report *report, struct ini_lines *ret);
void ini_lines_done(struct ini_lines *l);

#endif
