/*
 * lastknock: somebody comes just before the door is shut, as an LD_PRELOAD library.
 *
 * If the file LASTKNOCK_FILE is there when nobody waits in the queue of a listening socket,
 * accept4() removes it, and takes its time to say so: long enough for somebody to come.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAUSE_US 500000

int accept4(int fd, struct sockaddr *ret_address, socklen_t *length, int flags)
{
    static int (*real_accept4)(int, struct sockaddr *, socklen_t *, int);
    const char *file = getenv("LASTKNOCK_FILE");
    int peer, error;

    if (real_accept4 == NULL)
        *(void **)&real_accept4 = dlsym(RTLD_NEXT, "accept4");
    peer = real_accept4(fd, ret_address, length, flags);
    error = errno;
    if (peer < 0 && error == EAGAIN && file != NULL && unlink(file) == 0)
        usleep(PAUSE_US);
    errno = error;
    return peer;
}
