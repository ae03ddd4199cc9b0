/* pseudonym.c - see pseudonym.h.
 *
 * A path is a run of file name characters that begins with a drive ("C:\x"), that begins with a slash or "~" and has at least two
 * levels ("/home/user/x"), or that contains a slash and has the extension of a program or data file ("src/model.py"). A name such as
 * "/device:TPU:0" or "jit(f)/jit(main)/dot" is not a path. */
#include "pseudonym.h"

#include <stdio.h>
#include <string.h>

#include "secret.h"

bool pseudonym_append(const struct pseudonyms *p, struct buf *b, const char *kind, const void *text, size_t n) {
  char made[64];
  int len = snprintf(made, sizeof made, "%s-%016llx", kind, (unsigned long long)siphash(p->key, text, n));
  return buf_append(b, made, (size_t)len);
}

static bool is_slash(char c) { return c == '/' || c == '\\'; }
static bool in_path(char c) { return words_byte(c) || is_slash(c) || (c && strchr("._+@~-%=$#", c)); }

static bool ends_as_file(const char *p, size_t n) {
  static const char ENDINGS[] = " py pyx pyc ipynb c cc cpp cxx cu cuh h hpp hh inc so dylib dll o a rs go js ts java sh json yaml yml "
                                "toml txt log csv pt pth ckpt bin npy npz safetensors parquet pb gz zip whl exe ";
  char word[16] = " ";
  size_t dot = n;
  while (dot > 0 && p[dot - 1] != '.' && !is_slash(p[dot - 1])) dot--;
  if (dot == 0 || p[dot - 1] != '.' || n - dot > sizeof word - 3) return false;
  memcpy(word + 1, p + dot, n - dot);
  word[1 + n - dot] = ' ';
  return strstr(ENDINGS, word) != NULL;
}

static bool is_path(const char *p, size_t n) {
  size_t slashes = 0;
  for (size_t i = 0; i < n; i++) slashes += is_slash(p[i]) && (i == 0 || !is_slash(p[i - 1]));
  if (slashes == 0) return false;
  if (is_slash(*p) || (*p == '~' && is_slash(p[1]))) return slashes >= 2 || ends_as_file(p, n);
  return ends_as_file(p, n);
}

/* Returns the length of a path that begins at p; 0 if none does. A path can contain a colon only after a drive letter. */
static size_t path_at(const char *p, const char *end) {
  size_t n = 0;
  bool drive = end - p > 2 && words_byte(p[0]) && p[1] == ':' && is_slash(p[2]);
  if (drive) n = 2;
  while (p + n < end && in_path(p[n])) n++;
  while (n > 0 && strchr(".-", p[n - 1])) n--; /* punctuation at the end of a sentence */
  return n > 1 && (drive || is_path(p, n)) ? n : 0;
}

static struct secret part_at(const struct pseudonyms *s, const char *start, const char *p, const char *end) {
  const bool inside = p > start && words_byte(p[-1]);
  struct secret part = inside ? (struct secret){0} : secret_at(start, p, end);
  const bool scheme = p > start && p[-1] == ':' && end - p > 2 && p[0] == '/' && p[1] == '/' && p - start > 1 && words_byte(p[-2]);
  if (!part.length && !scheme && (p == start || !in_path(p[-1]))) part = (struct secret){path_at(p, end), "path"};
  const struct word *word = part.length || inside ? NULL : words_at(s->words, p, end);
  return word ? (struct secret){word->n, word->kind} : part;
}

bool pseudonym_scrub(const struct pseudonyms *s, struct buf *b, const char *text, size_t n, uint64_t *found) {
  const char *p = text, *end = text + n;
  while (p < end) {
    const struct secret part = part_at(s, text, p, end);
    if (part.length ? !pseudonym_append(s, b, part.kind, p, part.length) : !buf_append(b, p, 1)) return false;
    *found += part.length != 0;
    p += part.length ? part.length : 1;
  }
  return true;
}
