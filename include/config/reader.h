/*
 * config/reader: the text of an INI file and the --set of the command line -> config.
 *
 * All faults are found in one go, each with its place: `FILE:LINE:COL: [section]
 * key: what and what to do`, or `--set section.key: ...`. Nothing is opened here.
 */
#ifndef CONFIG_READER_H
#define CONFIG_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "config/config.h"

/* One `--set SECTION.KEY=VALUE`; settings_override_valid() tells whether it is of that form. */
struct config_override {
    const char *text; /* as given after --set */
};

/* What the world outside tells the pure reader. */
struct config_source {
    const char *path;  /* for messages, and where relative paths start */
    struct bytes text; /* of the file */
    /* Absolute: where relative paths of --set start, and `path` itself. */
    const char *current_directory;
    const struct config_override *overrides;
    size_t override_count;
};

/* No configuration is larger: a mistaken path to a huge file is found out early. */
#define CONFIG_BYTES_MAX (1 << 20)

/* NULL: diag says why, all of it. */
struct config *config_read(const struct config_source *source, struct diag *diag);

/* Has the text of the file changed since it was read? */
bool config_text_differs(const struct config *c, struct bytes text);

#endif
