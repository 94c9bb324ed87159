/*
 * io/socket: options of connected stream sockets.
 *
 * Those of TCP do nothing on a unix socket.
 */
#ifndef IO_SOCKET_H
#define IO_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* False too for what is no socket. */
bool socket_is_tcp(int fd);

/* A peer that vanished while idle is found out within about twice `ms`. */
void socket_keepalive(int fd, int64_t ms);

/* Rows are sent at once. */
void socket_for_rows(int fd);

#endif
