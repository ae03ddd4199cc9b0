/* xprof.c - runs TensorBoard or xprof, whichever is installed, on the loopback, with a temporary run directory.
 *
 * TensorBoard has an option for the address to listen on. The program xprof listens on all addresses of the machine and has no
 * such option. So its server is started in its own Python, with the function that selects the address replaced and the port
 * for other workers disabled. */
#include "xprof.h"
#include "shared/interrupt.h"
#include "view.h"
#include "make.h"

#include "print/tty.h"
#include "open.h"
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 120000, END_MS = 5000, TICK_MS = 100 };

static const char XPROF[] =
  "import sys, xprof.server as s\n"
  "assert hasattr(s, '_get_wildcard_address')\n"
  "s._get_wildcard_address = lambda port: '127.0.0.1'\n"
  "s._pywrap_profiler_plugin.start_grpc_server = lambda *a, **k: None\n"
  "sys.exit(s.main(['--logdir', sys.argv[1], '--port', sys.argv[2]]))\n";

/* ---- the run directory ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
  (void)st, (void)kind, (void)ftw;
  return remove(path);
}

static void remove_folder(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static int write_run(const struct view_params *p, const struct operands *in, const char *folder) {
  struct progress progress;
  struct tk_merge_options options = view_merge_options(p, &progress);
  const struct tk_source_options source = run_source_options(&p->selected.shared, &progress);
  struct tk_merge_report *report = NULL;
  struct tk_err err = { 0 };
  char output[PATH_MAX + 2];
  int status = STATUS_DONE;
  const char *first = run_input("view", in, &status);
  if (!first) return status;
  snprintf(output, sizeof output, "%s/", folder);
  options.save.format = NULL;
  options.source = &source;
  progress_start(&progress, "merging", NULL, p->selected.shared.quiet ? -1 : p->selected.shared.progress);
  const bool ok = tk_merge(in->n ? in->v : &first, in->n ? in->n : 1, output, &options, &report, &err);
  progress_end(&progress);
  for (size_t i = 0; ok && i < report->n_ranks; i++)
    if (report->ranks[i].failed) tty_say("left out: %s", report->ranks[i].failed);
  tk_merge_report_free(report);
  return ok ? STATUS_DONE : run_fail(&err);
}

/* ---- the program ---- */

/* Finds a program in PATH. */
static bool find_program(const char *name, char path[PATH_MAX]) {
  const char *list = getenv("PATH");
  for (size_t n; list && *list; list += n + (list[n] == ':')) {
    n = strcspn(list, ":");
    if (snprintf(path, PATH_MAX, "%.*s/%s", (int)n, list, name) < PATH_MAX && access(path, X_OK) == 0) return true;
  }
  return false;
}

/* Stores the path of the Python interpreter in the first line (#!) of a script. Returns false if the line names no program
 * that can be executed. */
static bool find_python(const char *script, char python[PATH_MAX]) {
  FILE *f = fopen(script, "r");
  const bool read = f && fgets(python, PATH_MAX, f);
  if (f) fclose(f);
  if (!read || strncmp(python, "#!/", 3) != 0) return false;
  python[strcspn(python, " \r\n")] = 0;
  memmove(python, python + 2, strlen(python) - 1);
  return access(python, X_OK) == 0;
}

static pid_t start_viewer(int with, const char *folder, const char *port) {
  char program[PATH_MAX], python[PATH_MAX];
  if (find_program("tensorboard", program)) {
    const char *const argv[] = { program, "--logdir", folder, "--host", "127.0.0.1", "--port", port, NULL };
    return view_start((char *const *)argv);
  }
  if (with == VIEW_TENSORBOARD || !find_program("xprof", program) || !find_python(program, python)) return 0;
  const char *const argv[] = { python, "-c", XPROF, folder, port, NULL };
  return view_start((char *const *)argv);
}

/* Returns --port, or else a port that is free now, because the viewers do not report which port they chose; 0 on failure. */
static uint16_t free_port(const struct view_params *p) {
  uint16_t port = (uint16_t)p->port;
  struct view_server *s = view_server_open(&port);
  view_server_close(s);
  return s ? port : 0;
}

static bool listens(uint16_t port) {
  const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const bool ok = fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) == 0;
  if (fd >= 0) close(fd);
  return ok;
}

/* Returns true if the process is still running; otherwise collects its exit status. */
static bool runs(pid_t pid) { return waitpid(pid, NULL, WNOHANG) == 0; }

static void stop(pid_t pid) {
  kill(-pid, SIGTERM);
  for (uint64_t since = view_now_ms(); view_now_ms() - since < END_MS; poll(NULL, 0, TICK_MS))
    if (!runs(pid)) return;
  kill(-pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

static bool wait_for_port(uint16_t port, pid_t pid) {
  for (uint64_t since = view_now_ms(); view_now_ms() - since < START_MS && !interrupt_signal(); poll(NULL, 0, TICK_MS)) {
    if (!runs(pid)) return false;
    if (listens(port)) return true;
  }
  return false;
}

/* ---- running the viewer ---- */

static int watch(const struct view_params *p, uint16_t port, pid_t pid) {
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
  if (!wait_for_port(port, pid)) {
    if (!interrupt_signal()) tty_say("failed to start the viewer; run tensorboard or xprof by hand to see why");
    return STATUS_OUTPUT;
  }
  view_open(url, port, p->no_browser);
  if (!p->selected.shared.quiet) tty_say("the viewer is running; stop it with Ctrl-C");
  while (!interrupt_signal() && runs(pid)) poll(NULL, 0, TICK_MS);
  return STATUS_DONE;
}

static int show(const struct view_params *p, const char *folder) {
  const uint16_t port = free_port(p);
  char text[16];
  snprintf(text, sizeof text, "%u", port);
  if (!port) {
    tty_say("failed to listen on any port of 127.0.0.1: %s", strerror(errno));
    return STATUS_OUTPUT;
  }
  const pid_t pid = start_viewer(p->with, folder, text);
  if (!pid) {
    tty_say(p->with == VIEW_TENSORBOARD ? "tensorboard is not installed; install it with pip install tensorboard xprof"
                                        : "neither tensorboard nor xprof is installed; install one with pip install xprof");
    return STATUS_OUTPUT;
  }
  const int status = watch(p, port, pid);
  stop(pid);
  return status;
}

int view_xprof(const struct view_params *p, const struct operands *in) {
  const char *place = getenv("TMPDIR");
  struct exprs e = select_expressions(&p->selected, "view");
  char folder[PATH_MAX];
  const bool filters = e.n > (p->selected.selection.ranks.n != 0) || p->drop_args.n || p->drop_flows || p->to;
  select_free(&e);
  if (filters)
    return run_usage("view", "--with xprof and --with tensorboard can select only by --rank, --every-rank, --step and --time");
  snprintf(folder, sizeof folder, "%.4000s/tracekit-XXXXXX", place && *place ? place : "/tmp");
  if (!mkdtemp(folder)) {
    tty_say("%s: %s", folder, strerror(errno));
    return STATUS_OUTPUT;
  }
  int status = write_run(p, in, folder);
  if (status == STATUS_DONE) status = show(p, folder);
  remove_folder(folder);
  return interrupt_signal() ? STATUS_SIGNALLED + interrupt_signal() : status;
}
