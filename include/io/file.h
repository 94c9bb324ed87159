/*
 * io/file: a small file, read whole.
 */
#ifndef IO_FILE_H
#define IO_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends what `fd` has, up to its end, or until there is more than `max` in `ret`.
 * False: errno says why it could not be read. */
bool file_read_all(int fd, size_t max, struct buf *ret);

#endif
