/* fetch_export.c - see fetch_export.h. */
#include "fetch_export.h"

#include "helper.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ENDING[] = ".nsys-rep";

bool fetch_exports(const char *name) {
  const size_t n = strlen(name);
  return n > sizeof ENDING - 1 && !strcmp(name + n - (sizeof ENDING - 1), ENDING);
}

/* Runs the exporter until it ends. Keeps only the last line of its error output, for err. */
static bool export_to(const char *program, const char *report, const char *database, struct tk_err *err) {
  struct helper h;
  char output[4096], input[4096], unused[4096], why[512] = "";
  const int n = snprintf(output, sizeof output, "--output=%s", database);
  const int m = snprintf(input, sizeof input, "%s%s", *report == '-' ? "./" : "", report); /* so the name is not taken for an option */
  const char *const argv[] = { program, "export", "--type=sqlite", output, "--quiet=true", input, NULL };
  if (n >= (int)sizeof output || m >= (int)sizeof input) return helper_fail(err, TK_EOPEN, "cannot export: its path is too long");
  if (!helper_start(&h, argv, true))
    return helper_fail(err, TK_EOPEN, "cannot export: failed to start %s: %s; --nsys names the program", program, strerror(errno));
  while (helper_read(&h, unused, sizeof unused) > 0) {}
  const bool ok = !interrupt_signal() && helper_end(&h, why, sizeof why);
  helper_stop(&h);
  if (interrupt_signal()) return helper_fail(err, TK_EINTERRUPTED, "interrupted");
  return ok || helper_fail(err, TK_EOPEN, "cannot export: %s", why);
}

/* Opens the database and returns a path of its descriptor, /dev/fd/N, which stays valid when the name is removed. */
static char *open_database(const char *program, const char *database, struct tk_err *err) {
  char *path = NULL;
  const int file = open(database, O_RDONLY | O_CLOEXEC);
  if (file < 0) helper_fail(err, TK_EOPEN, "cannot export: %s wrote no database: %s", program, strerror(errno));
  else if (asprintf(&path, "/dev/fd/%d", file) < 0) path = NULL;
  if (file >= 0 && !path) {
    close(file);
    helper_fail(err, TK_ELIMIT, "out of memory");
  }
  return path;
}

char *fetch_export(const char *program, const char *report, struct tk_err *err) {
  const char *parent = getenv("TMPDIR");
  char *folder = NULL, *database = NULL, *path = NULL;
  if (asprintf(&folder, "%s/tracekit-XXXXXX", parent && *parent ? parent : "/tmp") < 0) folder = NULL;
  const bool made = folder && mkdtemp(folder);
  if (made && asprintf(&database, "%s/report.sqlite", folder) < 0) database = NULL;
  if (folder && !made) helper_fail(err, TK_EOPEN, "cannot export: failed to create a temporary folder: %s", strerror(errno));
  else if (!database) helper_fail(err, TK_ELIMIT, "out of memory");
  else if (export_to(program, report, database, err)) path = open_database(program, database, err);
  if (database) unlink(database);
  if (made) rmdir(folder);
  free(database);
  free(folder);
  return path;
}
