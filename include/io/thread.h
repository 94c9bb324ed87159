/*
 * io/thread: starts a thread beside the loop.
 */
#ifndef IO_THREAD_H
#define IO_THREAD_H

#include <pthread.h>
#include <stdbool.h>

typedef void *thread_run(void *arg);

/* Signals stay the loop's. `ret` NULL: it is detached, and nobody waits for it, the end of the
 * process least of all. False: there can be none now. */
bool thread_start(thread_run *run, void *arg, pthread_t *ret);

#endif
