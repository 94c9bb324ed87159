/*
 * config/address: HOST:PORT, and the networks of an `allow` list. Only text is
 * read here: names are looked up by io.
 */
#ifndef CONFIG_ADDRESS_H
#define CONFIG_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "config/config.h"
#include "lang/expr.h"

/* `HOST:PORT` or `[V6]:PORT`, port 0 to 65535. On success host (without brackets)
 * and port (without leading zeros) are the caller's. */
bool address_read(struct bytes text, char **ret_host, char **ret_port,
                  struct expr_fault *ret_fault);

/* Both written the same, or with the same meaning, as ::1 and 0:0:0:0:0:0:0:1. */
bool hosts_same(const char *a, const char *b);

/* As far as it can be said without asking for names: would who connects to the host come to
 * who listens at `listening`? localhost, 0.0.0.0 and :: are all this machine. */
bool host_reaches(const char *host, const char *listening);

/* `10.0.0.0/8, 192.0.2.1, ::1, loopback`, parted by commas or spaces. On success the
 * array is the caller's. A network has no bits set behind its prefix. */
bool networks_read(struct bytes text, struct network **ret, size_t *ret_count,
                   struct expr_fault *ret_fault);
void networks_write(const struct network *networks, size_t count, struct buf *to);

#endif
