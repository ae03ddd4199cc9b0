/* wasm.c - the parts of the command that differ in WebAssembly: in a WebAssembly build this file replaces shared/interrupt.c, the files
 * that start helpers, and the folder view/; in other builds it is empty.
 *
 * WASI has no signals, sockets or child processes. Its working directory is always "/", so the program enters $PWD, which its caller
 * sets. Relative paths then have the same meaning as outside. */
#include "mcp/session.h"
#include "print/tty.h"
#include "shared/fetch.h"
#include "shared/interrupt.h"
#include "shared/run.h"
#include "view/run.h"

#include <stdlib.h>
#include <unistd.h>

#if defined(__wasi__)

/* Enters $PWD before main() runs. If that fails, relative paths start at the first directory that the caller gives to the
 * program. */
__attribute__((constructor)) static void enter_folder(void) {
  const char *folder = getenv("PWD");
  if (folder && *folder) (void)!chdir(folder);
}

void interrupt_catch(void) {}

int interrupt_signal(void) { return 0; }

bool interrupt_wait(int fd) {
  (void)fd;
  return true;
}

void interrupt_forget(void) {}

const struct tk_fetch *fetch_functions(struct tk_fetch *f, bool refused, const char *nsys) {
  (void)f, (void)refused, (void)nsys;
  return NULL;
}

int session_serve(const struct session_options *options) {
  (void)options;
  tty_fail("mcp runs each command as a process, which WebAssembly cannot start");
  return STATUS_OUTPUT;
}

int view_run(const struct view_params *p, const struct operands *in) {
  (void)p, (void)in;
  tty_fail("view needs a local server, which WebAssembly cannot open; write a file with convert, or a page with report --html");
  return STATUS_OUTPUT;
}

#endif
