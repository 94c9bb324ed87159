/*
 * config/keys: sections and keys by their names, hints at the nearest ones, and whether
 * what a configuration chose uses a key.
 */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/key.h"

const char *section_name(enum section s);
bool section_find(struct bytes name, enum section *ret);

/* NULL: the section has no such key. */
const struct key *key_find(enum section s, struct bytes name);

/* Appends what may help with a name that is not known: `; did you mean "listen"?`,
 * the section that has such a key, or the names there are. */
void section_hint(struct bytes name, struct buf *to);
void key_hint(enum section s, struct bytes name, struct buf *to);

/* What the configuration chose, as far as it is known. */
struct choice {
    unsigned endpoints[SECTIONS], formats[SECTIONS], envelopes[SECTIONS];
    unsigned match, time;
};

/* Does what was chosen use this key? */
bool key_used(const struct key *k, enum section s, const struct choice *c);

/* Is it plain from what was chosen that it is used? Then a key that is needed may be asked for. */
bool key_known_used(const struct key *k, const struct choice *c);

/* Appends what makes the key be used, with a blank: `time = event `; nothing if it always is. */
void key_used_reason(const struct key *k, const struct choice *c, struct buf *to);

/* Appends why not: `not used with file (only with listen)`. */
void key_unused_reason(const struct key *k, enum section s, const struct choice *c, struct buf *to);

/* For the manual, appends what uses the key: ` only with format = csv`; nothing if all does. */
void key_use_words(const struct key *k, struct buf *to);

#endif
