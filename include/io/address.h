/*
 * io/address: socket addresses as text, and who may connect.
 */
#ifndef IO_ADDRESS_H
#define IO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "config/config.h"

/* `127.0.0.1:8000`, `[::1]:8000`; appended. */
void address_write(const struct sockaddr_storage *a, struct buf *to);

/* Who is connected to us on `fd`: `peer`, or what the kernel knows of who connected to a unix
 * socket: `unix:PATH (pid 12, uid 34)`, the path being our own; appended. */
void address_write_peer(int fd, const struct sockaddr_storage *peer, struct buf *to);

/* No list: everybody. Peers on a unix socket have no address; its file's rights judge them. */
bool address_allowed(const struct sockaddr_storage *a, const struct network *allow, size_t count);

#endif
