/* fetch_words.c - see fetch_words.h.
 *
 * No address can be mistaken for an option. An address that is passed unchanged begins with its scheme. Parts of an address are checked
 * first, and are passed after "--" or as the value of an option. Only ssh has a shell, on the other machine; the path in its command is
 * in single quotes. */
#include "fetch_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static void word(struct fetch_words *w, const char *text) {
  if (w->n < FETCH_WORDS) w->argv[w->n++] = text;
  w->argv[w->n] = NULL;
}

static void words(struct fetch_words *w, const char *const *list) {
  for (; *list; list++) word(w, *list);
}

/* Appends text to the word that is being written. Returns false if there is no room; the command line is then unusable. */
static bool put_part(struct fetch_words *w, const char *text, size_t n) {
  if (n >= sizeof w->text - w->used) return false;
  memcpy(w->text + w->used, text, n);
  w->used += n;
  w->text[w->used] = 0;
  return true;
}

static bool put_text(struct fetch_words *w, const char *text) { return put_part(w, text, strlen(text)); }

/* Ends the word that began at `from`. */
static bool end_word(struct fetch_words *w, size_t from) {
  word(w, w->text + from);
  return put_part(w, "", 1);
}

/* Appends text in single quotes, in which a shell changes nothing. */
static bool put_quoted(struct fetch_words *w, const char *text) {
  bool ok = put_text(w, "'");
  for (; ok && *text; text++) ok = *text == '\'' ? put_text(w, "'\\''") : put_part(w, text, 1);
  return ok && put_text(w, "'");
}

static const char *rest_of(const char *address) { return strstr(address, "://") + 3; }

static const char TOO_LONG[] = "the address is too long";

/* ---- http, s3, gs ---- */

static const char *web_words(struct fetch_words *w, const char *program, const char *address, enum fetch_task task) {
  const char *host = rest_of(address);
  (void)task;
  if (memchr(host, '@', strcspn(host, "/?#"))) return "a user or password in the address; put them in ~/.netrc";
  words(w, (const char *const[]){ program, "-fsSL", "--globoff", "--netrc-optional", "--proto", "=http,https", "--proto-redir", NULL });
  word(w, strncmp(address, "https:", 6) == 0 ? "=https" : "=http,https");
  words(w, (const char *const[]){ "--", address, NULL });
  return NULL;
}

static const char *s3_words(struct fetch_words *w, const char *program, const char *address, enum fetch_task task) {
  if (task == FETCH_LIST) words(w, (const char *const[]){ program, "s3", "ls", "--recursive", address, NULL });
  else words(w, (const char *const[]){ program, "s3", "cp", "--only-show-errors", address, "-", NULL });
  return NULL;
}

static const char *gs_words(struct fetch_words *w, const char *program, const char *address, enum fetch_task task) {
  const bool is_gsutil = strcmp(program, "gsutil") == 0;
  word(w, program);
  word(w, is_gsutil ? "-q" : "storage");
  if (task == FETCH_OPEN) {
    words(w, (const char *const[]){ "cat", address, NULL });
    return NULL;
  }
  words(w, (const char *const[]){ "ls", "-l", NULL });
  return put_text(w, address) && put_text(w, "**") && end_word(w, 0) ? NULL : TOO_LONG;
}

/* ---- hf ---- */

/* The parts of "hf://datasets/owner/repo@revision/path": lengths of the type, of the repository with its owner, and of the
 * revision. */
struct hf {
  const char *type, *repo, *revision, *path;
  size_t n_repo, n_revision;
};

static struct hf hf_of(const char *address) {
  static const char *const types[][2] = { { "datasets/", "dataset" }, { "spaces/", "space" }, { "models/", "model" } };
  struct hf h = { .repo = rest_of(address) };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const size_t n = strlen(types[i][0]);
    if (strncmp(h.repo, types[i][0], n) != 0) continue;
    h.type = types[i][1];
    h.repo += n;
    break;
  }
  const size_t owner = strcspn(h.repo, "/");
  const size_t whole = h.repo[owner] ? owner + 1 + strcspn(h.repo + owner + 1, "/") : owner;
  const char *at = memchr(h.repo, '@', whole);
  h.n_repo = at ? (size_t)(at - h.repo) : whole;
  if (at) h.revision = at + 1, h.n_revision = whole - h.n_repo - 1;
  h.path = h.repo + whole + (h.repo[whole] == '/');
  return h;
}

const char *fetch_hf_path(const char *address) { return hf_of(address).path; }

static bool put_word(struct fetch_words *w, const char *text, size_t n, const char *more) {
  const size_t from = w->used;
  return put_part(w, text, n) && put_text(w, more) && end_word(w, from);
}

static const char *hf_words(struct fetch_words *w, const char *program, const char *address, enum fetch_task task) {
  const struct hf h = hf_of(address);
  const size_t n = strlen(h.path);
  const bool folder = n == 0 || h.path[n - 1] == '/';
  (void)task;
  if (!memchr(h.repo, '/', h.n_repo)) return "the address must be hf://[datasets/]OWNER/REPO[@REVISION]/PATH";
  if (*h.path == '-' || *h.repo == '-' || (h.revision && (!h.n_revision || *h.revision == '-'))) return "a part begins with '-'";
  words(w, (const char *const[]){ program, "download", "--quiet", NULL });
  if (h.type) words(w, (const char *const[]){ "--repo-type", h.type, NULL });
  if (h.revision) word(w, "--revision");
  if (h.revision && !put_word(w, h.revision, h.n_revision, "")) return TOO_LONG;
  if (folder && n) word(w, "--include");
  if (folder && n && !put_word(w, h.path, n, "*")) return TOO_LONG;
  word(w, "--");
  if (!put_word(w, h.repo, h.n_repo, "")) return TOO_LONG;
  if (!folder) word(w, h.path);
  return NULL;
}

/* ---- ssh ---- */

static bool all_of(const char *text, size_t n, const char *more) {
  for (size_t i = 0; i < n; i++) {
    const char c = text[i];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && !strchr(more, c)) return false;
  }
  return n > 0 && *text != '-';
}

/* Writes the words "-p PORT -- user@host" for "user@host:port". The brackets of an IPv6 address are left out. */
static const char *ssh_host(struct fetch_words *w, const char *place, size_t n) {
  const char *at = memchr(place, '@', n), *host = at ? at + 1 : place, *end = place + n;
  const bool v6 = host < end && *host == '[';
  const char *close = v6 ? memchr(host, ']', (size_t)(end - host)) : NULL;
  const char *stop = close ? close + 1 : host + strcspn(host, ":/"), *name = host + v6, *last = close ? close : stop;
  const size_t from = w->used;
  if (at && !all_of(place, (size_t)(at - place), "._-")) return "invalid user";
  if (v6 ? !close || !all_of(name, (size_t)(last - name), ":.%_-") : !all_of(name, (size_t)(last - name), "._-"))
    return "invalid host";
  if (stop < end) {
    const size_t digits = (size_t)(end - stop - 1);
    if (*stop != ':' || digits == 0 || digits > 5 || strspn(stop + 1, "0123456789") < digits) return "invalid port";
    word(w, "-p");
    if (!put_word(w, stop + 1, digits, "")) return TOO_LONG;
  }
  word(w, "--");
  const size_t start = stop < end ? w->used : from;
  const bool named = (!at || put_part(w, place, (size_t)(at + 1 - place))) && put_part(w, name, (size_t)(last - name));
  return named && end_word(w, start) ? NULL : TOO_LONG;
}

/* Lists "SIZE SECONDS ./PATH", with the options of GNU and busybox, or else of BSD and macOS. */
static const char LIST[] = " && if stat -c %s . >/dev/null 2>&1; then find -L . -type f -exec stat -L -c '%s %Y %n' {} +; "
                           "else find -L . -type f -exec stat -L -f '%z %m %N' {} +; fi";

static const char *ssh_words(struct fetch_words *w, const char *program, const char *address, enum fetch_task task) {
  const char *place = rest_of(address), *path = place + strcspn(place, "/");
  words(w, (const char *const[]){ program, "-T", NULL });
  const char *wrong = ssh_host(w, place, (size_t)(path - place));
  if (wrong) return wrong;
  if (!*path) return "no path; an address is ssh://HOST/PATH, or ssh://HOST/~/PATH below the home folder";
  if (strncmp(path, "/~/", 3) == 0) path += 3;
  if (*path == '-') return "a part begins with '-'";
  const size_t from = w->used;
  const bool lists = task == FETCH_LIST;
  const bool ok = put_text(w, lists ? "cd -- " : "cat -- ") && put_quoted(w, *path ? path : ".") && (!lists || put_text(w, LIST)) &&
                  end_word(w, from);
  return ok ? NULL : TOO_LONG;
}

/* ---- the table ---- */

#define CURL "install it, for example with 'apt install curl'"
static const char WEB_FOLDERS[] = "servers do not list folders; name the files";

static const struct fetch_scheme ROWS[] = {
  { "http", { "curl" }, CURL, WEB_FOLDERS, "", false, false, web_words },
  { "https", { "curl" }, CURL, WEB_FOLDERS, "", false, false, web_words },
  { "s3", { "aws" }, "install it, for example with 'pip install awscli'", NULL, "", false, false, s3_words },
  { "gs", { "gcloud", "gsutil" }, "see cloud.google.com/sdk/docs/install", NULL, "*?[]{}", false, false, gs_words },
  { "hf", { "hf", "huggingface-cli" }, "install it with 'pip install huggingface_hub'", NULL, "*?[]", true, false, hf_words },
  { "ssh", { "ssh" }, "install it, for example with 'apt install openssh-client'", NULL, "", false, true, ssh_words },
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

const char *const fetch_names[] = { "nsys-rep", "http", "https", "s3", "gs", "hf", "ssh", NULL };
_Static_assert(sizeof fetch_names / sizeof *fetch_names == N_ROWS + 2, "a name for each row, and one for reports");

const struct fetch_scheme *fetch_scheme_of(const char *address) {
  for (size_t i = 0; i < N_ROWS; i++) {
    const size_t n = strlen(ROWS[i].name);
    if (strncmp(address, ROWS[i].name, n) == 0 && strncmp(address + n, "://", 3) == 0) return &ROWS[i];
  }
  return NULL;
}

const char *fetch_wrong(const struct fetch_scheme *scheme, const char *address) {
  const char *rest = rest_of(address);
  if (!*rest || strchr("/?#", *rest)) return "no host or bucket in the address";
  if (*rest == '-') return "a part begins with '-'";
  if (strpbrk(rest, scheme->forbidden)) return "addresses have no patterns; name a folder, with a '/' at its end";
  for (const char *p = address; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) return "a control character in the address";
  return NULL;
}
