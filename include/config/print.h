/*
 * config/print: the effective configuration as an INI file: every key in force, defaults
 * too, with the plan in words as comments. Read again, it gives the same.
 */
#ifndef CONFIG_PRINT_H
#define CONFIG_PRINT_H

#include "base/buf.h"
#include "config/config.h"

void config_print(const struct config *c, struct buf *to);

#endif
