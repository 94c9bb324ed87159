/*
 * io/resolver: the addresses of a host, found without stopping the loop.
 *
 * getaddrinfo() knows all that the machine knows of names (hosts, DNS, others), but it
 * blocks, for as long as a name server is silent. So it runs in a thread of its own; the loop
 * is told by a descriptor. A question whose answer nobody waits for any more is left to
 * end by itself, and cleans up after itself. A numeric address needs no thread.
 */
#ifndef IO_RESOLVER_H
#define IO_RESOLVER_H

#include <event2/event.h>
#include <netdb.h>

struct resolver; /* one question */

/* `found`: NULL, and `error` (for people, static) says why; else the caller's, for
 * freeaddrinfo(). The question is over: the resolver is freed after the call. */
typedef void resolver_answer(void *owner, struct addrinfo *found, const char *error);

/* Always answers later, from the loop. */
struct resolver *resolver_ask(struct event_base *base, const char *host, const char *port,
                              resolver_answer *answer, void *owner);

/* The answer is not wanted any more. NULL is fine. */
void resolver_forget(struct resolver *r);

#endif
