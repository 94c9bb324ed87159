#include "config/key_words.h"

#include "codec/encoder.h"
#include "codec/input_format.h"
#include "config/config.h"
#include "model/plan.h"

const struct key_word input_format_words[] = {
    {"csv", INPUT_CSV, false},
    {"json", INPUT_JSON, false},
    {NULL, 0, false},
};
const struct key_word output_format_words[] = {
    {"csv", OUTPUT_CSV, false},
    {"json", OUTPUT_JSON, false},
    {NULL, 0, false},
};
const struct key_word framing_words[] = {
    {"line", FRAMING_LINE, false},
    {"octet", FRAMING_OCTET, false},
    {"auto", FRAMING_AUTO, false},
    {NULL, 0, false},
};
const struct key_word envelope_words[] = {
    {"none", ENVELOPE_NONE, false},
    {"syslog", ENVELOPE_SYSLOG, false},
    {NULL, 0, false},
};
const struct key_word type_words[] = {
    {"inner", JOIN_INNER, false},
    {"left", JOIN_LEFT, false},
    {"right", JOIN_RIGHT, false},
    {"full", JOIN_FULL, false},
    {"semi", JOIN_SEMI, false},
    {"anti", JOIN_ANTI, false},
    {NULL, 0, false},
};
const struct key_word match_words[] = {
    {"tumbling", MATCH_TUMBLING, false}, {"sliding", MATCH_SLIDING, false},
    {"session", MATCH_SESSION, false},   {"interval", MATCH_INTERVAL, false},
    {"latest", MATCH_LATEST, false},     {"lookup", MATCH_LOOKUP, false},
    {"batch", MATCH_BATCH, false},       {NULL, 0, false},
};
const struct key_word time_words[] = {
    {"processing", TIME_PROCESSING, false},
    {"event", TIME_EVENT, false},
    {NULL, 0, false},
};
const struct key_word duplicates_words[] = {
    {"keep", DUPLICATES_KEEP, false},
    {"last", DUPLICATES_LAST, false},
    {"error", DUPLICATES_ERROR, false},
    {NULL, 0, false},
};
const struct key_word absent_words[] = {
    {"wait", ABSENT_WAIT, false},
    {"discard", ABSENT_DISCARD, false},
    {NULL, 0, false},
};
const struct key_word slow_words[] = {
    {"wait", SLOW_WAIT, false},
    {"disconnect", SLOW_DISCONNECT, false},
    {"discard", SLOW_DISCARD, false},
    {NULL, 0, false},
};
const struct key_word thread_words[] = {
    {"auto", 0, false},
    {"1", 1, false},
    {"2", 2, false},
    {NULL, 0, false},
};
