/*
 * io/binding: a listening socket: made, or taken over from the service manager.
 *
 *     HOST:PORT       the first of the host's addresses
 *     unix:PATH       a socket file of ours, with the rights of `mode` from the first moment.
 *                     One that nobody listens on any more is replaced; nothing else ever is
 *     systemd:NAME    as it was passed (io/passed)
 *
 * interface.md sections 2 (listen, mode) and 6.
 */
#ifndef IO_BINDING_H
#define IO_BINDING_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"

struct binding {
    const struct endpoint *endpoint; /* not owned */
    int fd;                          /* listening, non-blocking; -1: closed */
    dev_t device;                    /* unix: of the file that was made ... */
    ino_t inode;                     /* ... for another may be there at the end */
};

/* False: cannot be had; an error is logged that says what to do. `section`, for messages:
 * left, output, http. `backlog`: of one that is made. */
bool binding_open(struct binding *b, const struct endpoint *e, const char *section, int backlog);

/* From now on nobody gets into its queue, so that it can be emptied for good: closing a socket
 * resets who waits there, and a client that has sent all it has may not even notice. TCP: who
 * tries is told when it tries again, after the close. Not for a passed socket. */
void binding_refuse(struct binding *b);

/* The socket file goes too, if it is still ours. A passed socket stays open with the service
 * manager, and who waits in its queue waits on. */
void binding_close(struct binding *b);

#endif
