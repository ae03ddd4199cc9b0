/* format.c - the table of formats, and detection of an input's format by its structure. */
#include "format.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/path.h"
#include "base/text.h"
#include "io/packing.h"
#include "pb.h"
#include "sqlite.h"
#include "stranger.h"

static const struct format *const FORMATS[] = {
    &format_chrome,
    &format_xplane,
    &format_perfetto,
    &format_speedscope,
    &format_nsys,
    &format_rocm,
    &format_rocprof,
    &format_rocprof_csv,
    &format_ascend,
    &format_torch_memory,
    &format_pprof,
    &format_cpuprofile,
    &format_perf_script,
    &format_folded,
    &format_otlp,
    &format_gecko,
};
enum { N_FORMATS = sizeof FORMATS / sizeof FORMATS[0] };
_Static_assert(sizeof FORMATS / sizeof FORMATS[0] <= FORMATS_MOST, "raise FORMATS_MOST");

const struct tk_format_info *tk_format(size_t i) { return i < N_FORMATS ? &FORMATS[i]->info : NULL; }

const struct format *format_row(size_t i) { return i < N_FORMATS ? FORMATS[i] : NULL; }

const struct format *format_by_name(const char *name) {
  for (size_t i = 0; i < N_FORMATS; i++)
    if (strcmp(FORMATS[i]->info.name, name) == 0) return FORMATS[i];
  return NULL;
}

const struct format *format_default(void) { return FORMATS[0]; }

/* Returns the length of the longest extension of f with which the first n bytes of a path end. */
static size_t ending_length(const struct format *f, const char *path, size_t n) {
  size_t longest = 0;
  for (const char *const *e = f->info.endings; *e; e++) {
    size_t m = strlen(*e);
    if (m > longest && n >= m && ascii_equal(path + n - m, *e, m)) longest = m;
  }
  return longest;
}

/* Returns the format that a path's extension selects. If two formats match, the longer extension wins: ".speedscope.json" is
 * not ".json". */
static const struct format *claim(const char *path, size_t n, size_t *ending) {
  const struct format *best = NULL;
  *ending = 0;
  for (size_t i = 0; i < N_FORMATS; i++) {
    size_t m = ending_length(FORMATS[i], path, n);
    if (m <= *ending) continue;
    *ending = m;
    best = FORMATS[i];
  }
  return best;
}

struct tk_path tk_path_of(const char *path) {
  struct tk_path out = {.stem = strlen(path), .packing = ""};
  const struct packing *packing = packing_of_path(path, out.stem);
  size_t ending;
  if (packing) {
    out.packing = (packing->written ? packing : packing_row(PACKING_GZIP))->ending;
    out.stem -= strlen(packing->ending);
  }
  const struct format *f = claim(path, out.stem, &ending);
  out.end = out.stem;
  out.format = f ? &f->info : NULL;
  out.stem -= ending;
  out.bare = packing && !f && !memchr(path_leaf(path), '.', out.end - (size_t)(path_leaf(path) - path));
  return out;
}

/* Returns the format with this word as a name; NULL if several formats share the word. */
static const struct format *format_called(const char *word, size_t n) {
  const struct format *found = NULL;
  for (size_t i = 0; i < N_FORMATS; i++) {
    const char *const *w = FORMATS[i]->info.words;
    bool called = strlen(FORMATS[i]->info.name) == n && ascii_equal(FORMATS[i]->info.name, word, n);
    for (; w && *w && !called; w++) called = strlen(*w) == n && ascii_equal(*w, word, n);
    if (called && found) return NULL;
    if (called) found = FORMATS[i];
  }
  return found;
}

/* Returns the format that a word selects: the name of a format, or an extension such as "json", which is treated like a file
 * name with this extension. */
struct tk_path tk_format_of(const char *word) {
  char name[64];
  snprintf(name, sizeof name, *word == '.' ? "x%s" : "x.%s", word);
  struct tk_path path = tk_path_of(name);
  const struct format *f = path.format || strlen(word) >= sizeof name - 2 ? NULL : format_called(name + 2, path.end - 2);
  if (f) path.format = &f->info;
  return path;
}

const struct format *format_by_word(const char *word) {
  const struct tk_format_info *info = tk_format_of(word).format;
  return info ? format_by_name(info->name) : NULL;
}

const struct format *format_by_path(const char *path) {
  size_t n = strlen(path), ending;
  const struct packing *packing = packing_of_path(path, n);
  return claim(path, packing ? n - strlen(packing->ending) : n, &ending);
}

const char *format_ending(const struct format *f, char *text) {
  snprintf(text, 64, "%s%s", f->info.ending, f->packed ? packing_row(PACKING_GZIP)->ending : "");
  return text;
}

/* True if the JSON of a trace seems to start at p: a bracket at the start of a line or of a call, followed by plausible
 * text. */
static bool seems_json(const uint8_t *p, const uint8_t *end, const uint8_t *start) {
  const uint8_t *q = p + 1;
  if (p > start && !strchr("\n\r(=: \t", p[-1])) return false;
  while (q < end && *q && strchr(" \t\r\n", *q)) q++;
  return q < end && (*q == '{' || (*p == '{' && *q == '"'));
}

/* Explains why no format matches. A common cause is text before the JSON; the message then states where the JSON starts. */
static bool unknown(const uint8_t *p, size_t n, const char *path, struct tk_err *err) {
  const char *what = stranger_name(p, n, path);
  const struct packing *packing = packing_of_bytes(p, n);
  if (n == 0) return err_set(err, TK_EFORMAT, "empty file");
  if (what) return err_set(err, TK_EFORMAT, "not a trace: %s", what);
  if (packing) return err_set(err, TK_EFORMAT, "not a trace: %s-compressed data", packing->name);
  for (size_t i = 0; i < n && (p[i] >= 0x20 || strchr("\t\r\n", p[i])); i++)
    if ((p[i] == '{' || p[i] == '[') && seems_json(p + i, p + n, p))
      return err_at(err, TK_EFORMAT, i, "not a trace: text before the JSON, which seems to start at byte %zu", i);
  return err_for(err, TK_OPTION_FORMAT, TK_EFORMAT, "not a recognised trace format");
}

/* ---- blocks of other formats ---- */

void format_find_starts(struct format_starts *s, const struct tk_trace *first) {
  _Static_assert((int)N_FORMATS <= (int)FORMATS_MOST, "every row has its place");
  for (size_t i = 0; i < N_FORMATS; i++) s->of[i] = FORMATS[i]->start ? FORMATS[i]->start(first) : (struct sink_start){0};
}

struct sink_start format_start(const struct format_starts *s, const struct format *f) {
  for (size_t i = 0; s && i < N_FORMATS; i++)
    if (FORMATS[i] == f) return s->of[i];
  return (struct sink_start){0};
}

bool format_carry(const struct format *f, const struct format_starts *starts, struct carry *c) {
  for (size_t i = 0; f->info.carries && i < N_FORMATS && c->n < CARRY_MOST; i++) {
    const struct format *of = FORMATS[i];
    struct carried *carried = &c->of[c->n];
    if (!of->carrier || of == f) continue;
    carried->name = of->info.name;
    if (!out_memory(&carried->out, NULL, &c->mem, NULL)) return false;
    c->n++;
    const struct sink_options opt = {.start = format_start(starts, of), .has_types = f->has_types};
    if ((carried->sink = of->carrier(&carried->out, &opt)) == NULL) return false;
  }
  return true;
}

void format_carry_free(struct carry *c) {
  while (c->n-- > 0) {
    if (c->of[c->n].sink) c->of[c->n].sink->free(c->of[c->n].sink);
    out_close(&c->of[c->n].out);
  }
  c->n = 0;
}

/* Decodes a block that JSON stores as text, in place. Returns false if the text is not a block, although its key is the name of
 * a format. */
static bool decode_text(struct tk_trace *t, struct tk_meta *m) {
  uint8_t *text = t->store->raw.data + m->at;
  if (m->size < 2 || text[0] != '"' || text[m->size - 1] != '"') return false;
  size_t n = base64_decode(text + 1, (size_t)m->size - 2);
  if (n == SIZE_MAX) return false;
  m->at++;
  m->size = n;
  m->origin = tk_string(t, m->key, NULL);
  return true;
}

/* Restores a text that is not a block. (A damaged block is removed instead; otherwise each later read would repair it
 * again.) */
static void restore_text(struct tk_trace *t, struct tk_meta *m, struct tk_meta was) {
  struct buf text = {.mem = &t->store->mem};
  if (base64_append(&text, t->store->raw.data + m->at, (size_t)m->size)) memcpy(t->store->raw.data + m->at, text.data, text.len);
  buf_free(&text);
  *m = was;
}

/* Drops the blocks of the given format, or of all formats. */
static void drop_blocks(struct tk_trace *t, const char *name) {
  tk_id n = 0;
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (!carry_is_block(t, &t->metas[i]) || (name && strcmp(t->metas[i].origin, name) != 0)) t->metas[++n] = t->metas[i];
  t->n_metas = n;
}

static void note_lost_block(struct tk_trace *t, const char *name) {
  char text[128];
  snprintf(text, sizeof text, "unreadable embedded %.40s data: lost", name);
  trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, text);
}

enum { BLOCK_LEAST = 32 }; /* bytes: a shorter text may be an ordinary word that happens to be valid base64 */

static void adopt_blocks(struct tk_trace *t, const struct format *f) {
  struct tk_meta was = {0};
  tk_id text = 0, blocks = 0;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    struct tk_meta *m = &t->metas[i], before = *m;
    if (strcmp(tk_string(t, m->key, NULL), f->info.name) != 0) continue;
    if (!text && !m->origin && decode_text(t, m)) text = i, was = before;
    blocks += carry_is_block(t, m);
  }
  bool adopted = blocks && f->adopt(t);
  const bool is_word = text && t->metas[text].size < BLOCK_LEAST;
  if (blocks && !adopted && !is_word) note_lost_block(t, f->info.name);
  /* The trace's own format may have lanes, even if the trace was read from another format. */
  for (tk_id i = 1; adopted && i <= t->n_tracks; i++) t->tracks[i].no_lanes = false;
  if (is_word && !adopted) restore_text(t, &t->metas[text], was);
  if (blocks) drop_blocks(t, f->info.name);
}

void format_adopt(struct tk_trace *t) {
  const tk_id had = t->n_metas;
  for (size_t i = 0; i < N_FORMATS && had; i++)
    if (FORMATS[i]->adopt) adopt_blocks(t, FORMATS[i]);
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (carry_is_block(t, &t->metas[i])) note_lost_block(t, t->metas[i].origin);
  drop_blocks(t, NULL);
}

void format_count_lost(const struct format *f, const struct carry *c, const struct tk_trace *t, struct sink *s) {
  for (size_t i = 0; i < N_FORMATS; i++) {
    const struct format *of = FORMATS[i];
    bool is_held = of == f;
    for (unsigned k = 0; c && k < c->n; k++) is_held = is_held || c->of[k].name == of->info.name;
    if (of->n_passthrough && !is_held) sink_lose(s, TK_LOSS_PASSTHROUGH, of->n_passthrough(t));
  }
}

/* ---- detection ---- */

enum { STRANGER_PEEK = 64 << 10 };

/* Returns true with err set if the name or the first bytes prove that the file is not a trace in any of the formats, even if one of
 * them would accept it. */
static bool is_stranger(struct in *in, const char *path, struct tk_err *err) {
  size_t n;
  const uint8_t *p = in_ahead(in, STRANGER_PEEK, &n, NULL); /* the reader reports read errors */
  const char *what = stranger_result(path);
  if (!what && p) what = stranger_sure(p, n);
  if (what) err_set(err, TK_EFORMAT, "not a trace: %s", what);
  return what != NULL;
}

/* Returns the format whose tables a database contains; NULL with err set if there is none. */
static const struct format *whose_database(struct in *in, struct tk_err *err) {
  struct mem mem = {0};
  const struct format *found = NULL;
  struct sqlite *db = sqlite_open(in, &mem, err);
  for (size_t i = 0; db && !found && i < N_FORMATS; i++)
    if (FORMATS[i]->is_database && FORMATS[i]->is_database(db)) found = FORMATS[i];
  const bool nvprof = db && sqlite_find(db, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"); /* table of kernels in files of nvprof */
  if (db && !found)
    err_set(err, TK_EFORMAT, "not a trace: %s", nvprof ? "a profile of nvprof; the NVIDIA Visual Profiler (nvvp) opens it"
                                                       : "an SQLite database with other tables; sqlite3 can open it");
  sqlite_close(db);
  return found;
}

const struct format *format_detect(struct in *in, const char *path, const struct format *likely, struct tk_err *err) {
  const struct format *best = NULL, *by_name = format_by_path(path);
  unsigned best_bid = 0, bid;
  size_t n;
  const uint8_t *p = in_ahead(in, FORMAT_PEEK, &n, err);
  if (!p) return NULL;
  if (likely && likely->bid(p, n)) return likely;
  if (is_stranger(in, path, err)) return NULL;
  p = in_ahead(in, FORMAT_PEEK, &n, err);
  if (!p) return NULL;
  for (size_t i = 0; i < N_FORMATS; i++) {
    if (!FORMATS[i]->info.can_read) continue;
    bid = FORMATS[i]->bid(p, n);
    if (bid > best_bid || (bid && bid == best_bid && FORMATS[i] == by_name)) {
      best = FORMATS[i];
      best_bid = bid;
    }
  }
  if (best && best->is_database) return whose_database(in, err);
  if (!best) unknown(p, n, path, err);
  return best;
}

/* ---- reading ---- */

/* True if a text filter damaged the file. Such a file may look like another format, because messages are damaged from the first
 * replaced number on. */
static bool is_mangled(const struct format *f, struct in *in) {
  size_t n;
  const uint8_t *p = f->shape ? in_ahead(in, MANGLED_LOOK, &n, NULL) : NULL; /* the reader reports read errors */
  if (!p || mangled_damage(f->shape, p, n, n < MANGLED_LOOK) == PB_SOUND) return false;
  for (size_t i = 0; i < N_FORMATS; i++)
    if (FORMATS[i]->shape && mangled_damage(FORMATS[i]->shape, p, n, n < MANGLED_LOOK) == PB_MANGLED) return true;
  return false;
}

bool format_read(const struct format *f, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  if (is_mangled(f, in))
    return err_set(err, TK_ECORRUPT,
                   "damaged by a text filter: bytes above 0x7f were replaced by U+FFFD (EF BF BD); transfer the file again in "
                   "binary mode");
  return f->read(in, t, opt, err);
}
