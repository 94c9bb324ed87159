/*
 * config/key: what a section's key is: its type, its range, what uses it, where its value is.
 *
 * Where a key's meaning is one number, word, text or expression, its row also says
 * where that is stored (config/scalar reads and writes the first three there); the
 * others (fields, lists of expressions, addresses, paths) have code of their own.
 */
#ifndef CONFIG_KEY_H
#define CONFIG_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum section {
    SECTION_LEFT,
    SECTION_RIGHT,
    SECTION_JOIN,
    SECTION_OUTPUT,
    SECTION_LATE,
    SECTION_REJECTS,
    SECTION_STATE,
    SECTION_HTTP,
    SECTION_PROCESS,
    SECTION_FLINK,
};
#define SECTIONS 10

enum key_type {
    KEY_WORD,
    KEY_SWITCH,   /* yes or no */
    KEY_DURATION, /* in [low, high] milliseconds */
    KEY_SIZE,     /* in [low, high] bytes */
    KEY_NUMBER,   /* in [low, high] */
    KEY_SEED,     /* a number, or `random` */
    KEY_MODE,     /* of a file, octal */
    KEY_DELIMITER,
    KEY_NULL, /* the text that means NULL */
    KEY_NETWORKS,
    KEY_ADDRESS, /* HOST:PORT, unix:PATH, systemd:NAME */
    KEY_PATH,
    KEY_NAME,
    KEY_FIELDS,
    KEY_EXPRESSION,
    KEY_EXPRESSIONS,
    KEY_COLUMNS, /* expressions with names */
    KEY_TEXT,
};

struct key_word {
    const char *text; /* NULL ends a list */
    unsigned value;   /* of the enum that it is stored as */
    bool later;       /* not in this version */
};

/* Sets of what can be chosen; a choice is a set of one, and 0 means no restriction
 * (in a key) or that it is not known (in a choice). */
enum key_endpoints {
    USE_TCP = 1 << 0,  /* listen = HOST:PORT */
    USE_UNIX = 1 << 1, /* listen = unix:PATH */
    USE_SYSTEMD = 1 << 2,
    USE_CONNECT_TCP = 1 << 3,
    USE_CONNECT_UNIX = 1 << 4,
    USE_FILE = 1 << 5,
    USE_STANDARD = 1 << 6, /* file = - */
};
#define USE_LISTEN  (USE_TCP | USE_UNIX | USE_SYSTEMD)
#define USE_CONNECT (USE_CONNECT_TCP | USE_CONNECT_UNIX)

enum key_formats { USE_CSV = 1 << 0, USE_JSON = 1 << 1 };

#define USE_ENVELOPE(envelope) (1u << (envelope)) /* of enum envelope */

#define USE_MATCH(match) (1u << (match)) /* of enum match_kind */
#define USE_TIME(time)   (1u << (time))  /* of enum time_kind */

struct key_use {
    unsigned endpoints, formats, envelopes, matches, times;
};

/* Which part of struct config holds a value; `offset` is within it. */
enum key_part {
    PART_NONE,     /* stored nowhere: it has one value in this version, or code of its own */
    PART_CONFIG,   /* struct config */
    PART_PLAN,     /* struct plan */
    PART_SIDE,     /* struct plan_side */
    PART_ENDPOINT, /* struct endpoint */
    PART_INPUT,    /* struct input_format */
    PART_OUTPUT,   /* struct output_config */
    PART_ROWS,     /* struct output_format */
};

struct key {
    const char *name;
    unsigned sections; /* a set of 1 << enum section */
    enum key_type type;
    struct key_use use;
    const char *preset;      /* the default, as it would be written; NULL: none */
    const char *preset_file; /* the default where a side reads a file, if another */
    const char *example;     /* of a key without which the section means nothing */
    int64_t low, high;
    const char *off;              /* durations: the word for none, such as `off` ... */
    int64_t off_ms;               /* ... and as what it is kept */
    const struct key_word *words; /* KEY_WORD */
    const char *later;            /* not in this version: what is missing, or "" */
    enum key_part part;
    size_t offset;
    const char *help; /* a sentence or two */
};

static inline bool key_in(const struct key *k, enum section s)
{
    return (k->sections & (1u << s)) != 0;
}

#endif
