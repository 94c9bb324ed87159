/*
 * config/key_table: the one table of all keys.
 *
 * The reader, --check, the hints of messages and the manual page come from it, so
 * they cannot disagree. It holds the whole of interface.md section 2: what is not
 * built yet is marked, and refused by name instead of being taken for a mistake.
 */
#ifndef CONFIG_KEY_TABLE_H
#define CONFIG_KEY_TABLE_H

#include "config/key.h"

extern const struct key keys[];
extern const size_t key_count;

#endif
