/*
 * io/written_file: opens a file that rows are appended to: a regular one, a FIFO or a device.
 */
#ifndef IO_WRITTEN_FILE_H
#define IO_WRITTEN_FILE_H

#include <stdbool.h>

#include "config/config.h"

/* Made if it is not there, with the mode that is asked for, whatever the umask. -1: cannot be
 * opened, or is a FIFO that nobody reads; an error is logged, of the output `word`. */
int written_file_open(const char *word, const struct endpoint *e);

/* One that is there, to be read too where that is allowed: for its last byte. -1: errno says why
 * not. */
int written_file_open_old(const char *path);

/* A regular file, not empty, whose last line has no end. */
bool written_file_is_torn(int fd);

#endif
