/* open.c - see open.h. Programs are started without a shell, so nothing interprets the address. */
#include "open.h"

#include "print/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 32 };

/* ---- programs ---- */

/* Replaces the child process with the program. The parent reads the pipe `told`: exec closes it on success; on failure a byte is
 * written. */
static void become(char *const argv[], int told) {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd < 3; fd++) dup2(null, fd);
  setsid();
  signal(SIGPIPE, SIG_DFL);
  execvp(argv[0], argv);
  const char failed = 1;
  if (write(told, &failed, 1) == 1) _exit(127);
  _exit(126);
}

pid_t view_start(char *const argv[]) {
  int told[2];
  char failed;
  if (pipe(told) != 0) return 0;
  fcntl(told[0], F_SETFD, FD_CLOEXEC);
  fcntl(told[1], F_SETFD, FD_CLOEXEC);
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) become(argv, told[1]);
  close(told[1]);
  const bool ok = pid > 0 && read(told[0], &failed, 1) == 0;
  close(told[0]);
  return ok ? pid : 0;
}

/* Starts a command line such as "firefox --new-tab %s". The address replaces %s, or is added as the last word. */
static bool start_line(const char *line, size_t n, const char *url) {
  char *words = strndup(line, n), *argv[MOST_WORDS + 2], *rest = words;
  size_t count = 0;
  bool named = false;
  for (char *word; words && count < MOST_WORDS && (word = strtok_r(rest, " ", &rest)) != NULL;) {
    const bool is_address = strcmp(word, "%s") == 0;
    argv[count++] = is_address ? (char *)url : word;
    named = named || is_address;
  }
  if (!named) argv[count++] = (char *)url;
  argv[count] = NULL;
  const bool ok = words && count > 1 && view_start(argv);
  free(words);
  return ok;
}

/* Starts the first program of $BROWSER that can be started; like PATH, the list is separated by ':'. */
static bool start_listed(const char *list, const char *url) {
  for (size_t n; *list; list += n + (list[n] == ':')) {
    n = strcspn(list, ":");
    if (n && start_line(list, n, url)) return true;
  }
  return false;
}

static bool start_word(const char *program, const char *url) { return start_line(program, strlen(program), url); }

static bool has_display(void) { return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"); }

static bool start_browser(const char *url) {
  const char *list = getenv("BROWSER");
  if (list && *list) return start_listed(list, url);
#ifdef __APPLE__
  return start_word("open", url);
#endif
  const bool windows = getenv("WSL_DISTRO_NAME") != NULL; /* a browser on Windows can connect to ports in WSL */
  if (windows && (start_word("wslview", url) || start_word("rundll32.exe url.dll,FileProtocolHandler", url))) return true;
  return has_display() && start_word("xdg-open", url);
}

/* ---- other machines ---- */

/* Copies word n (from 0) of $SSH_CONNECTION: "CLIENT PORT SERVER PORT". */
static void copy_word(const char *text, int n, char *word, size_t size) {
  for (; n && *text; n--) text += strcspn(text, " "), text += strspn(text, " ");
  snprintf(word, size, "%.*s", (int)strcspn(text, " "), text);
}

/* Prints the command that opens a tunnel, to be run on the user's own machine. */
static void say_tunnel(const char *connection, uint16_t port) {
  const struct passwd *user = getpwuid(getuid());
  char server[128], at[16], option[32] = "";
  copy_word(connection, 2, server, sizeof server);
  copy_word(connection, 3, at, sizeof at);
  if (strcmp(at, "22") != 0) snprintf(option, sizeof option, "-p %s ", at);
  tty_say("run this on your own machine: ssh -N -L %u:127.0.0.1:%u %s%s@%s", port, port, option, user ? user->pw_name : "you", server);
}

void view_open(const char *url, uint16_t port, bool no_browser) {
  const char *connection = getenv("SSH_CONNECTION");
  printf("%s\n", url);
  fflush(stdout);
  if (connection && *connection) say_tunnel(connection, port);
  else if (!no_browser && !start_browser(url)) tty_say("failed to start a browser; open the address printed above yourself");
}
