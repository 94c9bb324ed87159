/*
 * clockstep: a wall clock that a test can step, as an LD_PRELOAD library.
 *
 * CLOCKSTEP_FILE holds one int64_t: nanoseconds that are added to the wall clock,
 * whichever way it is asked for. The monotonic clocks are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

static const volatile int64_t *offset_ns;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("CLOCKSTEP_FILE");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = mmap(NULL, sizeof *offset_ns, PROT_READ, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        abort();
    close(fd);
    offset_ns = map;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (real_clock_gettime == NULL)
        *(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");

    int result = real_clock_gettime(clock, ret);
    if (result == 0 && offset_ns != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = ret->tv_nsec + *offset_ns % NS_PER_S;
        ret->tv_sec += *offset_ns / NS_PER_S + (ns >= NS_PER_S) - (ns < 0);
        ret->tv_nsec = ns - (ns >= NS_PER_S ? NS_PER_S : 0) + (ns < 0 ? NS_PER_S : 0);
    }
    return result;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL)
        *ret = now.tv_sec;
    return now.tv_sec;
}
