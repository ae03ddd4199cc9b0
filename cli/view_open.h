/* view_open.h - how the person who asked gets to the page. */
#ifndef CLI_VIEW_OPEN_H
#define CLI_VIEW_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Prints the address on standard output and, where a browser of this person can be expected, starts one, with which nothing more is
 * done: it stays when we end.  Over SSH it says how to get to the port instead. */
void view_open(const char *url, uint16_t port, bool no_browser);

/* Starts a program, found as the shell finds it: with no input and no output, in a session of its own.  0 = it cannot be started. */
pid_t view_start(char *const argv[]);

#endif
