/*
 * config/paths: paths as text. No file is looked at.
 */
#ifndef CONFIG_PATHS_H
#define CONFIG_PATHS_H

#include "base/bytes.h"

/* `path`, from `folder` on if it is relative, without `.` and doubled `/`. `..`
 * stays: what it means may depend on links. The caller's. */
char *path_absolute(const char *folder, struct bytes path);

/* The folder that holds `path`, which is absolute. The caller's. */
char *path_folder(const char *path);

/* The last part of `path`, without `.ini`. The caller's. */
char *path_stem(const char *path);

#endif
