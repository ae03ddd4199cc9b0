/* dump.c - canonical text of a graph, for golden files and diffs.
 *
 * One line per item, ids as text, times in picoseconds from the graph's origin, sections in fixed order:
 *
 *     trace origin=1000000ns zero=0ns clock=unknown
 *     track pid=1 tid=7 thread "main"
 *       0 span 0 +5000000 "a" [cat] {x=1}
 *     flow start 0 "f" [c] id=1 -> "a"@0
 *     record M pid=1 "name":"process_name",...
 *     meta traceName "x"
 *     note repair x2 @17 negative duration */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "trace.h"

static void append_format(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void append_format(struct buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0 || !buf_reserve(b, (size_t)n + 1)) return;
  va_start(ap, fmt);
  vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, ap);
  va_end(ap);
  b->len += (size_t)n;
}

/* Escapes characters that would break a line or control a terminal, and the characters in `also`. */
static void put_shown(struct buf *b, const char *text, size_t n, const char *also) {
  const uint8_t *s = (const uint8_t *)text, *end = s + n;
  for (unsigned len; s < end; s += len) {
    len = utf8_sequence(s, (size_t)(end - s));
    uint32_t c = len ? utf8_char(s, len) : s[0];
    bool shown = len && !utf8_is_obeyed(c) && !(c < 0x80 && strchr(also, (int)c));
    if (!len) len = 1;
    if (shown) buf_append(b, s, len);
    else append_format(b, c < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
  }
}

static void dump_put_text(struct buf *b, const struct tk_trace *t, tk_id id) {
  size_t n;
  const char *s = tk_string(t, id, &n);
  put_shown(b, s, n, "\"\\");
}

static void dump_put_string(struct buf *b, const struct tk_trace *t, tk_id id) {
  append_format(b, id ? "\"" : "-");
  dump_put_text(b, t, id);
  if (id) append_format(b, "\"");
}

static void put_ident(struct buf *b, const struct tk_trace *t, const char *what, struct tk_ident i) {
  if (i.kind == TK_IDENT_NONE) return;
  append_format(b, " %s=", what);
  if (i.kind == TK_IDENT_STR) dump_put_string(b, t, i.str);
  else append_format(b, i.kind == TK_IDENT_QUOTED ? "\"%lld\"" : "%lld", (long long)i.num);
}

static void dump_put_value(struct buf *b, const struct tk_trace *t, const struct tk_arg *a) {
  char text[128];
  switch (a->type) {
  case TK_ARG_NULL: append_format(b, "null"); return;
  case TK_ARG_FALSE: append_format(b, "false"); return;
  case TK_ARG_TRUE: append_format(b, "true"); return;
  case TK_ARG_INT: append_format(b, "%lld", (long long)a->i); return;
  case TK_ARG_UINT: append_format(b, "%lluu", (unsigned long long)a->u); return;
  case TK_ARG_POINTER: append_format(b, "0x%llx", (unsigned long long)a->u); return;
  case TK_ARG_DOUBLE: append_format(b, "%.*sd", (int)num_put_double(text, a->d), text); return;
  case TK_ARG_DECIMAL: append_format(b, "%.*s", (int)num_put_decimal(text, a->i, a->exp), text); return;
  case TK_ARG_NUMBER:
  case TK_ARG_JSON: append_format(b, "%s", tk_string(t, a->s, NULL)); return;
  default:
    if (a->type != TK_ARG_STR) append_format(b, a->type == TK_ARG_REF ? "ref:" : "bytes:");
    dump_put_string(b, t, a->s);
  }
}

static void put_args(struct buf *b, const struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  const char *sep = " {";
  if (!args) return;
  for (; tk_args_next(&it, &arg); sep = ", ") {
    append_format(b, "%s", sep);
    dump_put_text(b, t, arg.key);
    append_format(b, "=");
    dump_put_value(b, t, &arg);
  }
  append_format(b, *sep == ',' ? "}" : " {}");
}

static void put_class(struct buf *b, const struct tk_trace *t, tk_id id) {
  const struct tk_class *c = &t->classes[id];
  append_format(b, " ");
  dump_put_string(b, t, c->name);
  if (c->cat) append_format(b, " ["), dump_put_text(b, t, c->cat), append_format(b, "]");
  if (c->args) append_format(b, " shared");
  put_args(b, t, c->args);
}

/* Prints the stack with the locations of its frames. The name of the innermost frame is omitted, because it is the name of the
 * class. */
static void put_stack(struct buf *b, const struct tk_trace *t, const struct tk_class *c) {
  append_format(b, " unit=");
  dump_put_string(b, t, c->unit);
  for (tk_id s = c->stack; s; s = t->stacks[s].parent) {
    const struct tk_frame *f = &t->frames[t->stacks[s].frame];
    append_format(b, s == c->stack ? " at" : " < ");
    if (s != c->stack) dump_put_string(b, t, f->name);
    if (f->module) append_format(b, " in "), dump_put_string(b, t, f->module);
    if (f->file) append_format(b, " "), dump_put_string(b, t, f->file);
    if (f->line) append_format(b, ":%u", f->line);
    if (f->column) append_format(b, ":%u", f->column);
  }
}

static void put_event(struct buf *b, const struct tk_trace *t, const struct tk_event *e) {
  static const char *const kinds[] = {"span", "instant", "counter", "begin", "end", "sample"};
  static const char *const flags[] = { "paired",   "unfinished", "clipped",   "repaired",
                                       "overlaps", "lost-clock", "end-named", "async" };
  append_format(b, "  %u %s %lld", e->depth, kinds[e->kind], (long long)e->ts);
  if (e->kind == TK_EVENT_SPAN) append_format(b, " +%lld", (long long)e->dur);
  put_class(b, t, e->cls);
  if (e->kind == TK_EVENT_SAMPLE) put_stack(b, t, &t->classes[e->cls]);
  for (unsigned i = 0; i < 8; i++) {
    const bool recorded = e->kind == TK_EVENT_SAMPLE && 1u << i == TK_FLAG_IN_RECORD;
    if (e->flags & 1u << i) append_format(b, " %s", recorded ? "in-record" : flags[i]);
  }
  put_args(b, t, e->args);
  append_format(b, "\n");
}

static void put_track(struct buf *b, const struct tk_trace *t, const struct tk_track *k) {
  static const char *const kinds[] = {"root", "process", "thread", "counter", "async"};
  append_format(b, "track %s", kinds[k->kind]);
  put_ident(b, t, "pid", k->pid);
  put_ident(b, t, "tid", k->tid);
  if (k->name) append_format(b, " "), dump_put_string(b, t, k->name);
  if (k->labels) append_format(b, " labels="), dump_put_string(b, t, k->labels);
  if (k->machine) append_format(b, " machine="), dump_put_string(b, t, k->machine);
  if (k->has_sort) append_format(b, " sort=%lld", (long long)k->sort_index);
  if (k->hidden) append_format(b, " hidden");
  append_format(b, "\n");
}

static void put_flow(struct buf *b, const struct tk_trace *t, const struct tk_flow_point *f) {
  static const char *const roles[] = {"start", "step", "end", "out", "in", "inout"};
  const struct tk_track *k = &t->tracks[tk_flow_point_track(t, f)];
  append_format(b, "flow %s %lld", roles[f->role], (long long)f->ts);
  put_class(b, t, f->cls);
  append_format(b, " id=");
  if (f->id_kind == TK_FLOW_ID_STR) dump_put_string(b, t, (tk_id)f->id);
  else if (f->id_kind == TK_FLOW_ID_UINT) append_format(b, "%llu", (unsigned long long)f->id);
  else append_format(b, "%lld", (long long)f->id);
  if (f->enclosing) append_format(b, " enclosing");
  put_ident(b, t, "pid", k->pid);
  put_ident(b, t, "tid", k->tid);
  put_args(b, t, f->args);
  if (f->bound) append_format(b, " -> %lld", (long long)t->events[f->at].ts), put_class(b, t, t->events[f->at].cls);
  append_format(b, "\n");
}

static void put_record(struct buf *b, const struct tk_trace *t, const struct tk_record *r) {
  append_format(b, "record %c", r->phase ? r->phase : '-');
  if (r->has_ts) append_format(b, " %lld", (long long)r->ts);
  if (r->track) put_ident(b, t, "pid", t->tracks[r->track].pid), put_ident(b, t, "tid", t->tracks[r->track].tid);
  append_format(b, " ");
  put_shown(b, trace_raw(t, r->at), r->size, "");
  append_format(b, "\n");
}

/* Prints a metadata value, which may contain line breaks. */
static void put_meta(struct buf *b, const char *text, size_t n) {
  append_format(b, " ");
  for (const char *end = text + n, *line; text < end; text = line) {
    line = memchr(text, '\n', (size_t)(end - text));
    line = line ? line + 1 : end;
    put_shown(b, text, (size_t)(line - text) - (line[-1] == '\n'), "");
    if (line[-1] == '\n') append_format(b, "\n");
  }
  append_format(b, "\n");
}

/* Collects text and passes it to the caller in blocks. */
struct dumper {
  struct buf b;
  bool (*put)(void *arg, const char *text, size_t n);
  void *arg;
};

enum { BLOCK = 1 << 16 };

static bool flush(struct dumper *d, size_t at_least) {
  if (d->b.len < at_least) return true;
  bool ok = d->put(d->arg, (const char *)d->b.data, d->b.len);
  d->b.len = 0;
  return ok;
}

static bool dump_tracks(struct dumper *d, const struct tk_trace *t) {
  bool ok = true;
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    put_track(&d->b, t, k);
    for (tk_id e = k->first; ok && e < k->first + k->count; e++) {
      put_event(&d->b, t, &t->events[e]);
      ok = flush(d, BLOCK);
    }
  }
  return ok;
}

static void put_note(struct buf *b, const struct tk_trace *t, const struct tk_note *n) {
  static const char *const kinds[] = {[TK_NOTE_REPAIR] = "repair", [TK_NOTE_FACT] = "fact", [TK_NOTE_INFO] = "info"};
  append_format(b, "note %s x%llu", kinds[n->kind], (unsigned long long)n->count);
  if (n->offset != UINT64_MAX) append_format(b, " @%llu", (unsigned long long)n->offset);
  append_format(b, " ");
  if (n->source) dump_put_text(b, t, n->source);
  if (n->source) append_format(b, ": ");
  dump_put_text(b, t, n->text);
  append_format(b, "\n");
}

static bool dump_rest(struct dumper *d, const struct tk_trace *t) {
  struct buf *b = &d->b;
  bool ok = true;
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++) {
    put_flow(b, t, &t->flow_points[i]);
    ok = flush(d, BLOCK);
  }
  for (tk_id i = 1; ok && i <= t->n_records; i++) {
    put_record(b, t, &t->records[i]);
    ok = flush(d, BLOCK);
  }
  for (tk_id i = 1; ok && i <= t->n_metas; i++) {
    append_format(b, "meta ");
    dump_put_text(b, t, t->metas[i].key);
    if (t->metas[i].origin) append_format(b, " %llu bytes\n", (unsigned long long)t->metas[i].size);
    else put_meta(b, trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    ok = flush(d, BLOCK);
  }
  for (tk_id i = 1; i <= t->n_notes; i++) put_note(b, t, &t->notes[i]);
  return ok && flush(d, 1);
}

bool tk_dump_to(const struct tk_trace *t, bool (*put)(void *arg, const char *text, size_t n), void *arg) {
  static const char *const clocks[] = {"unknown", "realtime", "boottime", "monotonic"};
  struct mem mem = {0};
  struct dumper d = {.b.mem = &mem, .put = put, .arg = arg};
  if (!trace_is_sealed(t, NULL)) return false;
  append_format(&d.b, "trace origin=%lldns zero=%lldns clock=%s\n", (long long)t->origin_ns, (long long)t->zero_ns,
                clocks[t->clock]);
  bool ok = dump_tracks(&d, t) && dump_rest(&d, t) && !mem.failed;
  buf_free(&d.b);
  return ok;
}

static bool keep(void *arg, const char *text, size_t n) { return buf_append(arg, text, n); }

char *tk_dump(const struct tk_trace *t) {
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  if (!tk_dump_to(t, keep, &b) || !buf_append(&b, "", 1)) {
    buf_free(&b);
    return NULL;
  }
  return (char *)b.data;
}

void tk_free_text(char *text) {
  struct mem mem = {0};
  mem_free(&mem, text);
}
