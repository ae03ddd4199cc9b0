/* open.h - opens the page in the user's browser. */
#ifndef CLI_VIEW_OPEN_H
#define CLI_VIEW_OPEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Prints the address to standard output and starts a browser, unless no_browser is set; the browser stays open when the command
 * ends. Over SSH, prints the command that opens a tunnel instead. */
void view_open(const char *url, uint16_t port, bool no_browser);

/* Starts a program, found in PATH, without input and output, in its own session. Returns its pid; 0 if it cannot be
 * started. */
pid_t view_start(char *const argv[]);

#endif
