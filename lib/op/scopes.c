/* scopes.c - tk_scopes: adds tracks that show the scopes in an arg of events.
 *
 * Each track with such events gets a track of scopes, called a row. Consecutive events whose paths begin with the same scopes share the
 * spans of these scopes. The span of a scope ends with its last event or, if this is earlier, at the start of the next event outside
 * the scope, so that spans nest. */
#include "scopes.h"

#include <string.h>

#include "base/err.h"
#include "graph/args.h"

enum { SCOPES_DEEPEST = 64 };

size_t scopes_part(const char *path) {
  size_t n = 0;
  for (int depth = 0; path[n] && (path[n] != '/' || depth > 0); n++) depth += (path[n] == '(') - (path[n] == ')');
  return n;
}

/* A span on a row; spans are in preorder. */
struct scope_span {
  tk_time ts, end;
  tk_id name;
  uint32_t depth;
};

struct scoper {
  struct tk_trace *t;
  struct mem *mem;
  tk_id key;
  struct scope_span *v;
  uint32_t n, cap;
  uint32_t open[SCOPES_DEEPEST]; /* by depth: index of the span that may still be extended */
  uint32_t n_open;
};

static void close_to(struct scoper *s, uint32_t depth, tk_time at) {
  while (s->n_open > depth) {
    struct scope_span *span = &s->v[s->open[--s->n_open]];
    if (span->end > at) span->end = at;
  }
}

static bool enter(struct scoper *s, uint32_t depth, tk_id name, const struct tk_event *e) {
  const tk_time end = e->ts + e->dur;
  if (depth < s->n_open && s->v[s->open[depth]].name == name) {
    struct scope_span *span = &s->v[s->open[depth]];
    if (span->end < end) span->end = end;
    return true;
  }
  close_to(s, depth, e->ts);
  if (!mem_grow(s->mem, (void **)&s->v, &s->cap, (uint64_t)s->n + 1, sizeof *s->v)) return false;
  s->v[s->n] = (struct scope_span){e->ts, end, name, depth};
  s->open[s->n_open++] = s->n++;
  return true;
}

static bool add_path(struct scoper *s, const struct tk_event *e, tk_id text) {
  uint32_t depth = 0;
  size_t n;
  for (size_t at = 0; depth < SCOPES_DEEPEST; at += n + 1) {
    const char *path = tk_string(s->t, text, NULL) + at; /* adding a string may move the strings */
    n = scopes_part(path);
    if (n && !enter(s, depth++, trace_string(s->t, path, n), e)) return false;
    if (!path[n]) break;
  }
  close_to(s, depth, e->ts);
  return true;
}

static bool read_track(struct scoper *s, const struct tk_track *k) {
  struct tk_arg arg;
  s->n = s->n_open = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event e = s->t->events[i];
    if (e.kind != TK_EVENT_SPAN || e.flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) continue;
    if (!args_of_event(s->t, &e, s->key, &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) continue;
    if (!add_path(s, &e, arg.s)) return false;
  }
  return true;
}

static int64_t next_tid(const struct tk_trace *t, tk_id process) {
  int64_t most = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].parent == process && t->tracks[i].tid.kind == TK_IDENT_INT && t->tracks[i].tid.num > most)
      most = t->tracks[i].tid.num;
  return most + 1;
}

/* Adds the row for a track. */
static bool add_row(struct scoper *s, tk_id of) {
  struct tk_trace *t = s->t;
  const struct tk_track from = t->tracks[of];
  struct buf name = {.mem = s->mem};
  buf_text(&name, "scopes of ");
  const struct intern_str *own = trace_str(t, from.name);
  if (!buf_append(&name, own->bytes, own->len)) return false;
  const tk_id text = trace_string(t, name.data, name.len), mark = trace_text(t, TK_DERIVED);
  buf_free(&name);
  args_begin(t);
  args_flag(t, mark, TK_ARG_TRUE);
  const uint32_t args = args_end(t);
  const int64_t tid = next_tid(t, from.parent);
  struct tk_track *k = trace_add_track(t);
  const tk_id track = t->n_tracks, first = t->n_events + 1;
  *k = (struct tk_track){.kind = TK_TRACK_THREAD,
                         .parent = from.parent, .pid = from.pid, .tid = ident_int(tid), .name = text, .first = first,
                         .sort_index = from.sort_index, .has_sort = from.has_sort, .renamed = true, .derived = true};
  for (uint32_t i = 0; i < s->n && !t->store->mem.failed; i++) {
    const struct scope_span *v = &s->v[i];
    const tk_id cls = trace_class(t, v->name, 0);
    struct tk_event *e = trace_add_event(t);
    *e = (struct tk_event){.ts = v->ts, .dur = v->end - v->ts, .cls = cls, .track = track, .args = args, .depth = (uint16_t)v->depth};
  }
  t->tracks[track].count = t->n_events + 1 - first;
  return !t->store->mem.failed;
}

bool tk_scopes(struct tk_trace *t, const char *key, uint64_t *rows, struct tk_err *err) {
  struct mem mem = {0};
  struct tk_err own;
  if (!trace_is_sealed(t, err)) return false;
  if (!err) err = &own;
  err_clear(err);
  if (rows) *rows = 0;
  if (!key) return err_set(err, TK_EUSAGE, "scopes need the key of an arg");
  mem.limit = t->store->mem.limit;
  struct scoper s = {.t = t, .mem = &mem, .key = trace_text_id(t, key)};
  const tk_id n_tracks = t->n_tracks;
  bool ok = true;
  for (tk_id i = 1; ok && s.key && i <= n_tracks; i++) {
    const struct tk_track k = t->tracks[i];
    if (k.kind != TK_TRACK_THREAD || k.hidden || k.derived) continue;
    ok = read_track(&s, &k) && (!s.n || add_row(&s, i));
    if (ok && rows) *rows += s.n != 0;
  }
  mem_free(&mem, s.v);
  return (ok && mem_check(&t->store->mem, err)) || mem_refuse(&mem, err);
}

/* True if the scope has the form WORD(...) with one of the words. */
static bool is_call_of(const char *p, size_t n, const char *const *words) {
  for (; *words; words++) {
    const size_t m = strlen(*words);
    if (n >= m + 2 && strncmp(p, *words, m) == 0 && p[m] == '(' && p[n - 1] == ')') return true;
  }
  return false;
}

size_t scopes_module(const char *part, size_t n, const char **name) {
  /* jax/_src/interpreters/ad.py, batching.py and ad_checkpoint.py wrap the scopes of transformed functions; pjit.py and pxla.py wrap
   * the scopes of compiled functions. */
  static const char *const TRANSFORMS[] = {"jvp", "transpose", "vmap", "remat", "checkpoint", NULL};
  static const char *const PROGRAMS[] = {"jit", "pjit", "pmap", "xmap", NULL};
  while (is_call_of(part, n, TRANSFORMS)) {
    const size_t head = (size_t)((const char *)memchr(part, '(', n) - part) + 1;
    part += head;
    n -= head + 1;
  }
  *name = part;
  return is_call_of(part, n, PROGRAMS) ? 0 : n;
}
