/*
 * config/reading: what the steps of config_read() share.
 *
 * A step reports what is wrong and goes on with what is known; what it could not
 * find out is marked, so that one mistake is told once.
 */
#ifndef CONFIG_READING_H
#define CONFIG_READING_H

#include <stdbool.h>

#include "config/config.h"
#include "config/keys.h"
#include "config/report.h"
#include "config/settings.h"
#include "lang/expr.h"

struct reading {
    const char *current_directory; /* where relative paths of --set start */
    struct report report;          /* its path: where those of the file do */
    struct settings settings;
    struct choice choice;
    struct config *config; /* being filled */
};

/* Is the section in force? [late], [rejects] and [http] are if they stand in the
 * file, unless --set took away what they need. */
bool section_in_force(const struct settings *s, enum section section);

/* config/endpoints, config/clashes: listen, connect and file. */
void endpoints_choose(struct reading *r); /* which kind each section has, for the choice */
void endpoint_read(struct reading *r, enum section section); /* if it has one */
void endpoints_compare(struct reading *r);                   /* no two can be the same */

/* config/join: names, fields, keys and conditions; and [output] select. */
void join_read(struct reading *r);

/* Reports what an expression's step found wrong with a value, and frees it. */
void report_fault(const struct reading *r, const struct setting *s, struct expr_fault *fault);

/* NULL, too, where the value is empty: that is reported elsewhere. */
const struct setting *reading_find(const struct reading *r, enum section section, const char *key);

#endif
