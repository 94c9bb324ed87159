#include "io/resolver.h"

#include <errno.h>
#include <event2/event_struct.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/object.h"
#include "io/thread.h"

#define RESOLVER_MAGIC 0x564c5352u /* RSLV */

/* Held by the loop until it has answered or is forgotten, and by the thread until that has
 * found; who lets go last frees it. The thread touches what stands in its part only. */
struct resolver {
    uint32_t magic;
    /* the loop's */
    struct event answered;
    resolver_answer *answer;
    void *owner;

    /* the thread's, until `done` */
    char *host, *port; /* owned */
    struct addrinfo *found;
    const char *error; /* static */
    int fd;            /* an eventfd; -1: no thread was needed, or none could be made */

    atomic_bool done;
    atomic_int holders;
};

static void let_go(struct resolver *r)
{
    if (atomic_fetch_sub_explicit(&r->holders, 1, memory_order_acq_rel) > 1)
        return;
    if (r->found != NULL)
        freeaddrinfo(r->found);
    if (r->fd >= 0)
        close(r->fd);
    mem_free(r->host);
    mem_free(r->port);
    r->magic = 0;
    mem_free(r);
}

static void find(struct resolver *r, int flags)
{
    struct addrinfo hints = {.ai_flags = flags | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    int error = getaddrinfo(r->host, r->port, &hints, &r->found);

    if (error != 0)
        r->found = NULL;
    if (error == EAI_SYSTEM)
        r->error = strerrordesc_np(errno);
    else if (error != 0)
        r->error = gai_strerror(error);
}

static void *run(void *arg)
{
    struct resolver *r = object_of(arg, RESOLVER_MAGIC);
    const uint64_t one = 1;
    ssize_t written;

    find(r, 0);
    atomic_store_explicit(&r->done, true, memory_order_release);
    written = write(r->fd, &one, sizeof(one));
    (void)written; /* the first of a counter always fits */
    let_go(r);
    return NULL;
}

static void on_answered(evutil_socket_t fd, short what, void *arg)
{
    struct resolver *r = object_of(arg, RESOLVER_MAGIC);
    struct addrinfo *found;

    (void)fd;
    (void)what;
    if (!atomic_load_explicit(&r->done, memory_order_acquire))
        return;
    event_del(&r->answered);
    found = r->found;
    r->found = NULL;
    r->answer(r->owner, found, r->error);
    let_go(r);
}

static bool ask_thread(struct resolver *r, struct event_base *base)
{
    r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->fd < 0)
        return false;
    atomic_store(&r->holders, 2);
    event_assign(&r->answered, base, r->fd, EV_READ | EV_PERSIST, on_answered, r);
    event_add(&r->answered, NULL);
    if (thread_start(run, r, NULL))
        return true;
    atomic_store(&r->holders, 1);
    event_del(&r->answered);
    return false;
}

struct resolver *resolver_ask(struct event_base *base, const char *host, const char *port,
                              resolver_answer *answer, void *owner)
{
    struct resolver *r = mem_alloc_zeroed(1, sizeof(*r));

    r->magic = RESOLVER_MAGIC;
    r->host = mem_strdup(host);
    r->port = mem_strdup(port);
    r->answer = answer;
    r->owner = owner;
    r->fd = -1;
    atomic_init(&r->done, false);
    atomic_init(&r->holders, 1);
    find(r, AI_NUMERICHOST);
    if (r->found == NULL) {
        r->error = NULL;
        if (ask_thread(r, base))
            return r;
        r->error = "no thread or descriptor could be had to look it up";
    }
    atomic_store(&r->done, true);
    event_assign(&r->answered, base, -1, 0, on_answered, r);
    event_active(&r->answered, EV_TIMEOUT, 0);
    return r;
}

void resolver_forget(struct resolver *r)
{
    if (r == NULL)
        return;
    event_del(&r->answered);
    let_go(r);
}
