/*
 * io/passed: listening sockets that the service manager opened and passes by name.
 *
 * LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES: sd_listen_fds_with_names(3). They stay open
 * with the service manager when we go, so who connects meanwhile waits for the next start.
 */
#ifndef IO_PASSED_H
#define IO_PASSED_H

/* The socket of that name: listening, non-blocking, closed on exec, and the caller's.
 * -1: none of that name, several, one that is taken already under another name, or no listening
 * stream socket; an error is logged, with the names that were passed where they matter. `section`,
 * for messages: left, output, http. */
int passed_socket(const char *name, const char *section);

/* After all sections have taken theirs: warns once of each that nobody asked for. */
void passed_tell_unused(void);

#endif
