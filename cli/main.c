/* main.c - finds the command in argv and runs it.
 *
 * The first argument or the program's own name selects the command: `tracekit merge` and `tracekit-merge` are the same.
 */
#include "commands.h"
#include "options/meant.h"
#include "docs/docs.h"
#include "docs/topics.h"
#include "docs/complete_values.h"
#include "shared/interrupt.h"
#include "shared/run.h"
#include "print/tty.h"

#include <errno.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_COMMANDS = 64 };

static int version(void) {
  puts(tk_build_info());
  return STATUS_DONE;
}

static int formats(void) {
  docs_formats(stdout);
  return STATUS_DONE;
}

/* Parses the options of a command, whose name is argv[0], and runs it. Returns the exit status. */
static int run_command(const struct command *c, int argc, char **argv) {
  struct opt_error error;
  struct operands in = { .v = calloc((size_t)argc + 1, sizeof *in.v) };
  void *params = calloc(1, c->params_size);
  int status = STATUS_INPUT;
  if (!in.v || !params) {
    tty_fail("out of memory");
  } else {
    switch (opt_parse(c, argv, params, &in, &error)) {
      case PARSED_RUN: status = c->run(params, &in); break;
      case PARSED_SHORT: docs_short(stdout, c), status = STATUS_DONE; break;
      case PARSED_HELP: docs_help(stdout, c), status = STATUS_DONE; break;
      case PARSED_VERSION: status = version(); break;
      case PARSED_FORMATS: status = formats(); break;
      case PARSED_ERROR: status = run_usage(c->name, error.why); break;
    }
  }
  opt_free(c, params);
  free(params);
  free(in.v);
  return status;
}

static int unknown_command(const char *name) {
  const char *here = meant_command(name);
  const char *const options[] = { "--help", "--version", NULL };
  const char *names[MAX_COMMANDS + 2] = { "help" }, *summary;
  struct opt_error error;
  size_t n = 1;
  for (size_t i = 0; commands[i] && n < MAX_COMMANDS; i++) names[n++] = commands[i]->name;
  for (size_t i = 0; topic_name(i, &summary) && n < MAX_COMMANDS; i++) names[n++] = topic_name(i, &summary);
  if (here) {
    tty_fail("unknown command '%s'; try %s (see 'tracekit help')", name, here);
    return STATUS_USAGE;
  }
  if (access(name, F_OK) == 0) {
    tty_fail("a command must come first, such as tracekit report %s or tracekit view %s (see 'tracekit help')", name, name);
    return STATUS_USAGE;
  }
  if (name[0] == '-') opt_unknown(&error, "option", name, options);
  else opt_unknown(&error, "command", name, names);
  tty_fail("%s%s (try 'tracekit help')", error.why, name[0] == '-' && !strchr(error.why, ';') ? ": the command must come "
                                                                                                "first" : "");
  return STATUS_USAGE;
}

static int help(const char *name) {
  if (name && !strcmp(name, "help")) name = NULL;
  const struct command *c = name ? opt_find_command(commands, name) : NULL;
  if (name && !c && topic_print(stdout, name, docs_formats)) return STATUS_DONE;
  if (name && !c) return unknown_command(name);
  if (c) docs_help(stdout, c);
  else docs_usage(stdout, commands);
  return STATUS_DONE;
}

static int dispatch(int argc, char **argv) {
  const struct command *c;
  if (argc < 2) {
    docs_usage(stderr, commands);
    return STATUS_USAGE;
  }
  if (!strcmp(argv[1], "help")) return help(argv[2]);
  if (!strcmp(argv[1], "-h")) {
    docs_overview(stdout, commands);
    return STATUS_DONE;
  }
  if (!strcmp(argv[1], "--help")) return help(NULL);
  if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) return version();
  if (!strcmp(argv[1], "__docs")) return docs_main(argv + 2, commands);
  if (!strcmp(argv[1], "__complete")) return complete_main(argv + 2);
  c = opt_find_command(commands, argv[1]);
  return c ? run_command(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* Returns the command merge for "tracekit-merge" in any directory; NULL if the program has another name. */
static const struct command *named_by(const char *program) {
  static const char prefix[] = "tracekit-";
  const char *slash = strrchr(program, '/');
  const char *name = slash ? slash + 1 : program;
  return strncmp(name, prefix, sizeof prefix - 1) ? NULL : opt_find_command(commands, name + sizeof prefix - 1);
}

/* Gives each block of 1 MB or more its own mapping, so that it grows without a copy and returns to the system when freed. By default,
 * glibc raises the threshold for this to the size of the largest freed block, up to 32 MB. Arrays would then grow in the heap, whose
 * holes and huge pages --max-memory does not count: a merge limited to 16 MB occupied 31 MB. This setting did not slow down info,
 * convert or merge on 200 MB. */
static void keep_large_blocks_apart(void) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv) {
  const struct command *c = argc > 0 ? named_by(argv[0]) : NULL;
  int status;
  keep_large_blocks_apart();
  interrupt_catch();
  status = c ? run_command(c, argc, argv) : dispatch(argc, argv);
  /* Fails if standard output could not be written, unless its reader closed the pipe early, as head does. */
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  if (tty_reader_is_gone()) return status;
  tty_fail("standard output: %s", errno ? strerror(errno) : "write failed");
  return status ? status : STATUS_OUTPUT;
}
