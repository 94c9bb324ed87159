/*
 * config/config: what a joind INI file says, read and checked (config/reader).
 *
 *     text -> settings (config/settings: sections, keys, values, places)
 *          -> config   (this: typed values, by the key table of config/keys)
 *          -> plan     (model/plan: what it means to the engine)
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "codec/encoder.h"
#include "codec/input_format.h"
#include "model/plan.h"

enum endpoint_kind {
    ENDPOINT_NONE, /* the section is not there */
    ENDPOINT_LISTEN,
    ENDPOINT_CONNECT,
    ENDPOINT_FILE,
    ENDPOINT_STANDARD, /* file = -: standard input or output */
};

/* What listen and connect name. */
enum endpoint_family {
    FAMILY_TCP,     /* HOST:PORT */
    FAMILY_UNIX,    /* unix:PATH */
    FAMILY_SYSTEMD, /* systemd:NAME: a listening socket that the service manager passes */
};

/* One network of an `allow` list. */
struct network {
    uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint8_t prefix_bits; /* of those 128 */
};

struct endpoint {
    enum endpoint_kind kind;
    enum endpoint_family family; /* listen, connect */
    char *text;            /* owned; as written in the file, for the ready line and messages */
    char *host;            /* owned; TCP: without brackets */
    char *port;            /* owned; TCP: decimal */
    char *path;            /* owned; file and unix: absolute */
    char *passed_name;     /* owned; systemd: without `systemd:` */
    struct network *allow; /* owned */
    size_t allow_count;    /* 0: everybody */
    int64_t max_connections;
    int64_t keepalive_ms;
    uint32_t mode; /* rights of a file or a unix socket that is made */
};

struct input_config {
    struct endpoint endpoint;
    struct input_format format;
};

enum absent_policy { ABSENT_WAIT, ABSENT_DISCARD };
enum slow_policy { SLOW_WAIT, SLOW_DISCONNECT, SLOW_DISCARD };

struct output_config {
    struct endpoint endpoint; /* kind ENDPOINT_NONE: not configured (late, rejects) */
    struct output_format format;
    enum absent_policy absent;
    enum slow_policy slow;
    int64_t buffer_bytes;
    int64_t dead_after_ms; /* 0: off */
};

enum output_id { OUTPUT_RESULTS, OUTPUT_LATE, OUTPUT_REJECTS };
#define OUTPUTS 3

struct config {
    char *name;        /* owned; the file's name without folder and `.ini` */
    char *path;        /* owned; as given */
    struct plan *plan; /* owned */
    struct input_config input[SIDES];
    struct output_config output[OUTPUTS];
    struct endpoint http;  /* ENDPOINT_NONE or ENDPOINT_LISTEN */
    unsigned threads;      /* process.threads; 0: auto */
    bool hash_seed_random; /* main draws one and sets plan->hash_seed */
    uint64_t text_hash;    /* of the file's text: has it changed since? */
};

/* For assertions: as config_read() gives it. */
bool config_ok(const struct config *c);

void config_free(struct config *c);

#endif
