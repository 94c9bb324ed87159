/*
 * config/words: a configuration in words, for people: what --check says at its top.
 */
#ifndef CONFIG_WORDS_H
#define CONFIG_WORDS_H

#include "base/buf.h"
#include "config/config.h"

/* Appends a few lines, each a comment of an INI file. */
void config_words(const struct config *c, struct buf *to);

#endif
