#include "io/thread.h"

#include <signal.h>

bool thread_start(thread_run *run, void *arg, pthread_t *ret)
{
    sigset_t all, before;
    pthread_t thread;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return false;
    if (ret != NULL)
        *ret = thread;
    else
        pthread_detach(thread);
    return true;
}
