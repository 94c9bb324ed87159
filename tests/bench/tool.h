/*
 * bench/tool: the few things that all programs of the benchmark do alike.
 *
 * They are one-shot programs: whatever goes wrong ends them with status 1 and one line on
 * standard error. Times are nanoseconds of CLOCK_MONOTONIC, so that the figures of several
 * processes can be compared.
 */
#ifndef BENCH_TOOL_H
#define BENCH_TOOL_H

#include <stdint.h>

/* What one read or write moves, in every program of the benchmark. */
#define TOOL_CHUNK (256 * 1024)

/* Prints "NAME: WHAT: strerror(errno)" (without the reason when errno is 0) and exits with 1. */
_Noreturn void tool_die(const char *what);

int64_t tool_now_ns(void);

/* A whole number from `min` up, or the end of the program. `what` names it in the message. */
uint64_t tool_number(const char *what, const char *text, uint64_t min);

/* A blocking TCP connection to an IPv4 address. The caller owns the descriptor. */
int tool_connect(const char *address, const char *port);

#endif
