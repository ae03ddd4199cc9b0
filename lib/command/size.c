/* size.c - finds what the bytes of a file are used for. The writer formats the trace without writing a file, and reports what each byte
 * is used for.
 *
 * Bytes are counted before compression; the compressed size of the whole file is also reported. A string that the format writes only
 * once is counted for the first event that uses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "source/identity.h"
#include "graph/kind.h"
#include "load/save.h"

/* Rows of the table by kind. An event is counted in the first row that matches; its args are counted separately. */
enum slot {
  S_ARGS, S_FLOWS, S_PYTHON, S_KERNEL, S_COPY, S_ANNOTATION, S_RUNTIME, S_SPAN, S_INSTANT, S_COUNTER, S_META, S_PASSTHROUGH, SLOTS
};
static const char *const SLOT_NAMES[SLOTS] = {
    "args",          "flows",       "python frames", "kernels",         "copies",  "annotations and steps",
    "runtime calls", "other spans", "instants",      "counter samples", "metadata",
    "format-specific data"};

struct cell {
  uint64_t bytes, events;
};

struct sizer {
  struct tk_trace *t;
  struct mem mem;
  struct kinds kinds;
  struct cell slots[SLOTS], *cats, *names, *args, *tracks;
  struct track_origin *origins;
  uint32_t n_strings;
  uint64_t total;
  uint64_t of_args; /* bytes of the args of the next event */
};

static void *cells(struct sizer *s, uint64_t n) { return mem_zeros(&s->mem, n + 1, sizeof(struct cell)); }

static void count_in_cell(struct cell *c, uint64_t bytes) {
  c->bytes += bytes;
  c->events++;
}

/* ---- receiving reports of the writer ---- */

static enum slot slot_of(const struct sizer *s, const struct tk_event *e) {
  unsigned kind = kinds_of(&s->kinds, e);
  if (kind & KIND_PYTHON) return S_PYTHON;
  if (kind & (KIND_KERNEL | KIND_COLLECTIVE)) return S_KERNEL;
  if (kind & (KIND_MEMCPY | KIND_MEMSET)) return S_COPY;
  const bool is_copy = (s->kinds.of_class[e->cls] & (KIND_REPEAT | KIND_TALLY)) == KIND_REPEAT;
  if (kind & (KIND_ANNOTATION | KIND_STEP) || is_copy) return S_ANNOTATION;
  if (kind & KIND_RUNTIME) return S_RUNTIME;
  return kind & KIND_COUNTER ? S_COUNTER : kind & KIND_INSTANT ? S_INSTANT : S_SPAN;
}

static void of_event(struct sizer *s, tk_id id, uint64_t bytes) {
  const struct tk_event *e = &s->t->events[id];
  const struct tk_class *c = &s->t->classes[e->cls];
  uint64_t args = s->of_args < bytes ? s->of_args : bytes;
  s->of_args = 0;
  if (args) count_in_cell(&s->slots[S_ARGS], args);
  count_in_cell(&s->slots[slot_of(s, e)], bytes - args);
  count_in_cell(&s->cats[c->cat], bytes);
  count_in_cell(&s->names[c->name], bytes);
  count_in_cell(&s->tracks[e->track], bytes);
}

static void hear(void *arg, enum sink_part part, tk_id id, uint64_t bytes) {
  struct sizer *s = arg;
  if (part == SINK_ARG) {
    s->of_args += bytes;
    count_in_cell(&s->args[id], bytes);
    return;
  }
  s->total += bytes;
  if (part == SINK_EVENT) {
    of_event(s, id, bytes);
  } else if (part == SINK_FLOW) {
    const struct tk_flow_point *f = &s->t->flow_points[id];
    s->of_args = 0;
    count_in_cell(&s->slots[S_FLOWS], bytes);
    count_in_cell(&s->cats[s->t->classes[f->cls].cat], bytes);
    count_in_cell(&s->names[s->t->classes[f->cls].name], bytes);
    count_in_cell(&s->tracks[tk_flow_point_track(s->t, f)], bytes);
  } else {
    count_in_cell(&s->slots[S_META], bytes);
  }
}

/* ---- rows ---- */

static int by_bytes(const void *a, const void *b) {
  const struct tk_size_row *x = a, *y = b;
  if (x->by != y->by) return x->by < y->by ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return strcmp(x->key, y->key);
}

static bool add_row(struct tk_size_report *r, enum tk_size_by by, const char *key, struct cell c) {
  struct tk_size_row *rows;
  if (!c.events) return true;
  if ((r->n_rows & (r->n_rows - 1)) == 0) {
    rows = realloc(r->rows, (r->n_rows ? r->n_rows * 2 : 1) * sizeof *rows);
    if (!rows) return false;
    r->rows = rows;
  }
  char *copy = malloc(strlen(key) + 1);
  if (!copy) return false;
  memcpy(copy, key, strlen(key) + 1);
  r->rows[r->n_rows++] = (struct tk_size_row){by, copy, c.bytes, c.events};
  return true;
}

static void track_name(const struct tk_trace *t, tk_id track, char *out, size_t n) {
  const struct tk_track *k = &t->tracks[track], *p = k->kind == TK_TRACK_PROCESS ? k : &t->tracks[k->parent];
  char pid[24] = "", tid[24] = "";
  if (p->pid.kind == TK_IDENT_INT || p->pid.kind == TK_IDENT_QUOTED) pid[num_put_i64(pid, p->pid.num)] = 0;
  if (k->tid.kind == TK_IDENT_INT || k->tid.kind == TK_IDENT_QUOTED) tid[num_put_i64(tid, k->tid.num)] = 0;
  snprintf(out, n, "%s%s%s", tk_string(t, p->name ? p->name : p->pid.str, NULL), *pid ? " " : "", pid);
  if (k->kind == TK_TRACK_PROCESS) return;
  size_t used = strlen(out);
  snprintf(out + used, n - used, " / %s%s%s", tk_string(t, k->name ? k->name : k->tid.str, NULL), *tid ? " " : "", tid);
}

static bool track_rows(struct sizer *s, struct tk_size_report *r) {
  char text[512];
  bool ok = true;
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++) {
    track_name(s->t, i, text, sizeof text);
    ok = add_row(r, TK_SIZE_TRACK, text, s->tracks[i]);
  }
  return ok;
}

/* Adds a row for each rank, with the sums over its tracks. */
static bool rank_rows(struct sizer *s, struct tk_size_report *r) {
  struct map sums; /* rank -> first track of the rank, whose cell contains the sums */
  struct cell *sum = cells(s, s->t->n_tracks);
  bool ok = sum != NULL;
  char text[24];
  map_init(&sums, &s->mem);
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++) {
    const uint32_t *first = map_put(&sums, (uint64_t)s->origins[i].rank, i);
    ok = first != NULL;
    if (!ok) break;
    sum[*first].bytes += s->tracks[i].bytes;
    sum[*first].events += s->tracks[i].events;
  }
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++) {
    long long rank = s->origins[i].rank;
    snprintf(text, sizeof text, rank < 0 ? "unknown" : "%lld", rank);
    ok = add_row(r, TK_SIZE_RANK, text, sum[i]);
  }
  map_free(&sums);
  mem_free(&s->mem, sum);
  return ok;
}

static bool make_rows(struct sizer *s, struct tk_size_report *r) {
  const struct tk_trace *t = s->t;
  bool ok = true;
  for (int i = 0; ok && i < SLOTS; i++) ok = add_row(r, TK_SIZE_KIND, SLOT_NAMES[i], s->slots[i]);
  for (tk_id i = 0; ok && i <= s->n_strings; i++) {
    const char *text = tk_string(t, i, NULL);
    ok = add_row(r, TK_SIZE_CAT, text, s->cats[i]) && add_row(r, TK_SIZE_NAME, text, s->names[i]) &&
         add_row(r, TK_SIZE_ARG, text, s->args[i]);
  }
  ok = ok && track_rows(s, r) && rank_rows(s, r);
  if (ok && r->n_rows) qsort(r->rows, r->n_rows, sizeof *r->rows, by_bytes);
  return ok;
}

/* ---- entry points ---- */

/* Formats the trace as a file with this name, without writing it, and counts its bytes. */
static bool weigh_output(struct sizer *s, const char *name, struct tk_save_options o, struct sink_meter meter, struct tk_saved *saved,
                         struct tk_err *err) {
  struct saver out = {.meter = meter};
  const char *inputs[] = {NULL};
  o.dry_run = true;
  bool ok = save_open(&out, name, &o, s->t->format, inputs, err) && out.sink->open(out.sink, s->t, err) &&
            save_write(&out, s->t, err) && out.sink->close(out.sink, s->t, NULL, err) && save_commit(&out, saved, err);
  save_close(&out);
  return ok;
}

static bool prepare_sizes(struct sizer *s) {
  s->n_strings = s->t->store->strings.n;
  s->cats = cells(s, s->n_strings);
  s->names = cells(s, s->n_strings);
  s->args = cells(s, s->n_strings);
  s->tracks = cells(s, s->t->n_tracks);
  s->origins = identity_of_tracks(s->t, &s->mem);
  return s->cats && s->names && s->args && s->tracks && s->origins && kinds_init(&s->kinds, s->t, &s->mem);
}

static void free_sizer(struct sizer *s) {
  struct cell *of_strings[] = {s->cats, s->names, s->args};
  for (int i = 0; i < 3; i++)
    mem_free(&s->mem, of_strings[i]);
  mem_free(&s->mem, s->tracks);
  identity_free_tracks(s->origins, &s->mem);
  kinds_free(&s->kinds);
}

/* Moves the bytes of passthrough data from "metadata" to a separate row. To find their number, formats the trace again without
 * passthrough data. Skipped if metadata is less than SMALL_PERCENT of the file: it is then not worth the time. */
static bool weigh_passthrough(struct sizer *s, struct tk_save_options o, uint64_t bytes, struct tk_err *err) {
  enum { SMALL_PERCENT = 5 };
  struct cell *meta = &s->slots[S_META];
  struct tk_saved less;
  if (meta->bytes < bytes / 100 * SMALL_PERCENT) return true;
  o.no_passthrough = true;
  if (!weigh_output(s, "-", o, (struct sink_meter){0}, &less, err)) return false;
  if (less.raw_bytes >= bytes) return true;
  const uint64_t saved = bytes - less.raw_bytes < meta->bytes ? bytes - less.raw_bytes : meta->bytes;
  meta->bytes -= saved;
  count_in_cell(&s->slots[S_PASSTHROUGH], saved);
  return true;
}

static bool size_trace(struct sizer *s, const struct tk_save_options *opt, struct tk_size_report *r, struct tk_err *err) {
  struct tk_saved saved;
  if (!weigh_output(s, "-.gz", *opt, (struct sink_meter){hear, s}, &saved, err)) return false;
  r->bytes = saved.raw_bytes;
  r->packed = saved.bytes;
  if (r->bytes > s->total) count_in_cell(&s->slots[S_META], r->bytes - s->total);
  if (!opt->no_passthrough && !weigh_passthrough(s, *opt, r->bytes, err)) return false;
  return make_rows(s, r) || err_set(err, TK_ELIMIT, "out of memory");
}

/* Returns the format to measure by default: the format of the input or, if tracekit cannot write it, the default format. */
static const char *own_format(const struct tk_trace *t) {
  const struct format *f = format_by_name(t->format);
  return f && f->info.can_write ? t->format : format_default()->info.name;
}

bool tk_size(struct tk_trace *t, const struct tk_save_options *opt, struct tk_size_report **report, struct tk_err *err) {
  struct sizer s = {.t = t};
  struct tk_save_options o = opt ? *opt : (struct tk_save_options){0};
  struct tk_err own;
  bool ok;
  if (!err) err = &own;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !trace_is_sealed(t, err)) return false;
  if (!o.format) o.format = own_format(t);
  (*report)->format = format_by_word(o.format) ? format_by_word(o.format)->info.name : "";
  ok = prepare_sizes(&s) ? size_trace(&s, &o, *report, err) : mem_check(&s.mem, err) && err_set(err, TK_ELIMIT, "out of memory");
  free_sizer(&s);
  return ok;
}

void tk_size_report_free(struct tk_size_report *report) {
  if (!report) return;
  for (size_t i = 0; i < report->n_rows; i++) free(report->rows[i].key);
  free(report->rows);
  free(report);
}
