/*
 * config/key_words: the words that keys of the type KEY_WORD take.
 */
#ifndef CONFIG_KEY_WORDS_H
#define CONFIG_KEY_WORDS_H

#include "config/key.h"

extern const struct key_word input_format_words[];
extern const struct key_word output_format_words[];
extern const struct key_word framing_words[];
extern const struct key_word envelope_words[];
extern const struct key_word type_words[];
extern const struct key_word match_words[];
extern const struct key_word time_words[];
extern const struct key_word duplicates_words[];
extern const struct key_word absent_words[];
extern const struct key_word slow_words[];
extern const struct key_word thread_words[];

#endif
