/* make.c - makes the file that the viewer opens, in memory.
 *
 *     sources -> one trace, or a merge -> what xprof derives -> filter -> shrink or save -> bytes
 *
 * Perfetto gets its own format, which needs half the memory of JSON and keeps all nanoseconds, unless JSON loses less of the
 * trace. Nothing is written to disk. */
#include "make.h"
#include "opening.h"
#include "report/html.h"
#include "view.h"

#include "print/json.h"
#include "print/tty.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sizes in bytes up to which viewers load files without problems. Perfetto's WebAssembly has 4 GB of memory: trace_processor v52 took
 * 2.8 GB for 349 MB of its own format (5 million spans with args), and 3.9 GB for 2.2 GB of JSON. speedscope reads JSON as one string,
 * which V8 limits to 512 MB. */
static const uint64_t COMFORT_PERFETTO = 400000000, COMFORT_JSON = 1500000000, COMFORT_SPEEDSCOPE = 400000000;

struct maker {
  const struct view_params *p;
  struct view_made *made;
  struct progress progress;
  struct tk_trace *t;
  struct json left_out;
  bool ranked; /* ranks, steps and times were selected while merging */
  int status;
  FILE *to;
  size_t size;
};

static const struct shared *shared_of(const struct maker *m) { return &m->p->selected.shared; }

static bool fail(struct maker *m, const struct tk_err *err) {
  m->status = run_fail(err);
  return false;
}

/* Adds a sentence about omitted data to the page. Callers must not include paths. */
static void leave_out(struct maker *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void leave_out(struct maker *m, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  json_string(&m->left_out, NULL, text);
}

/* ---- loading ---- */

struct tk_sources *view_sources(const struct view_params *p, const struct operands *in, int *status) {
  const struct shared *s = &p->selected.shared;
  struct tk_err err = { 0 };
  struct progress progress;
  struct tk_source_options options = run_source_options(s, &progress);
  const char *first = run_input("view", in, status);
  if (!first) return NULL;
  progress_start(&progress, "looking", NULL, s->quiet ? -1 : s->progress);
  struct tk_sources *sources = tk_sources_open(in->n ? in->v : &first, in->n ? in->n : 1, &options, &err);
  progress_end(&progress);
  if (!sources) *status = run_fail(&err);
  if (!sources || sources->n > 0) return sources;
  tk_sources_close(sources);
  *status = run_usage("view", "no input contains a trace");
  return NULL;
}

struct tk_merge_options view_merge_options(const struct view_params *p, struct progress *progress) {
  const struct shared *s = &p->selected.shared;
  const struct selection *selection = &p->selected.selection;
  struct tk_merge_options options = {
    .load = run_load_options(s, progress),
    .save = run_save_options(s, "tracekit view", progress),
    .derive = s->derive >= 0,
    .keep_going = s->keep_going,
  };
  merging_options(&p->merging, &options);
  options.ranks = selection->ranks.v;
  options.n_ranks = selection->ranks.n;
  options.steps = selection->step;
  options.time = selection->time;
  return options;
}

static const char *leaf_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

/* Returns true if there are several sources, or if an option requires a merge even for a single source. */
static bool is_merge(const struct view_params *p, const struct tk_sources *sources) {
  const struct merging *m = &p->merging;
  return sources->n > 1 || m->label || m->group_by || m->offsets.n || m->offsets_from || m->every_rank || m->to_zero;
}

static bool merge(struct maker *m, struct tk_sources *sources, const char *name) {
  struct tk_merge_options options = view_merge_options(m->p, &m->progress);
  struct tk_merge_report *report = NULL;
  struct tk_err err = { 0 };
  progress_start(&m->progress, "merging", NULL, shared_of(m)->quiet ? -1 : shared_of(m)->progress);
  m->t = tk_sources_merge(sources, name, &options, &report, &err);
  progress_end(&m->progress);
  if (m->t) run_notes_after(shared_of(m), NULL, m->t, 0);
  else fail(m, &err);
  for (size_t i = 0; m->t && i < report->n_ranks; i++) {
    if (!report->ranks[i].failed) continue;
    tty_say("left out: %s", report->ranks[i].failed);
    leave_out(m, "%s cannot be read and was left out.", leaf_of(report->ranks[i].input));
  }
  if (m->t && report->n_skipped) leave_out(m, "%zu inputs belong to other ranks and were left out.", report->n_skipped);
  tk_merge_report_free(report);
  m->ranked = true;
  return m->t != NULL;
}

static bool load_one(struct maker *m, struct tk_sources *sources) {
  struct tk_err err = { 0 };
  m->t = run_load_input(shared_of(m), sources, 0, &m->status);
  if (!m->t || shared_of(m)->derive < 0) return m->t != NULL;
  return tk_derive(m->t, NULL, &err) || fail(m, &err);
}

static bool load(struct maker *m, const struct operands *in) {
  struct tk_sources *sources = view_sources(m->p, in, &m->status);
  if (!sources) return false;
  const bool ok = is_merge(m->p, sources) ? merge(m, sources, in->n ? in->v[0] : "-") : load_one(m, sources);
  tk_sources_close(sources);
  return ok;
}

/* ---- selecting ---- */

static bool is_selective(const struct maker *m, const struct tk_filter_options *o) {
  return o->where || o->time || o->steps || o->drop_args || m->p->drop_flows;
}

static bool filter(struct maker *m, struct tk_filter_options *options) {
  struct tk_filter_report done = { 0 };
  struct tk_err err = { 0 };
  char a[32], b[64];
  if (!is_selective(m, options)) return true;
  progress_start(&m->progress, "filtering", NULL, -1);
  options->progress = run_ticker(&m->progress);
  if (!tk_filter(m->t, options, &done, &err)) {
    (m->status = run_fail_of(m->t->source, &err));
    return false;
  }
  if (done.events == done.events_before) return true;
  m->made->events_before = done.events_before;
  leave_out(m, "The options select %s of %s.", tty_count(done.events, a), tty_counted(done.events_before, "event", b));
  return done.events || ((void)tty_say("no event is selected"), m->status = STATUS_FINDING, false);
}

static struct tk_filter_options filter_options(const struct view_params *p, const struct exprs *e, bool ranked) {
  return (struct tk_filter_options){ .where = (const char *const *)e->v,
                                     .time = ranked ? NULL : p->selected.selection.time,
                                     .steps = ranked ? NULL : p->selected.selection.step,
                                     .drop_args = p->drop_args.n ? (const char *const *)p->drop_args.v : NULL,
                                     .drop_flows = p->drop_flows };
}

/* Checks the options that select events, and --at, before reading any input. */
static bool understand(struct maker *m, const struct exprs *e) {
  const struct tk_filter_options asked = filter_options(m->p, e, false);
  struct tk_err err = { 0 };
  m->status = STATUS_USAGE;
  if (e->failed && !e->wrong) tty_say("out of memory");
  if (e->failed || e->wrong) return false;
  return (tk_filter_check(&asked, &err) && view_check_at(m->p->at, &err)) || fail(m, &err);
}

/* ---- names ---- */

static bool is_safe(char c) { return isalnum((unsigned char)c) || c == '.' || c == '-' || c == '_' || c == '+'; }

/* Sets the name of the file and the title of the page from the last component of the first input's path: "2026_11_20", "rank0
 * and 7 more". */
static void name_it(struct maker *m, const struct operands *in) {
  const char *first = in->n ? in->v[0] : "-", *leaf;
  char whole[512], stem[128];
  snprintf(whole, sizeof whole, "%s", strcmp(first, "-") == 0 ? "standard input" : *first == '@' ? first + 1 : first);
  for (size_t n = strlen(whole); n > 1 && whole[n - 1] == '/'; n--) whole[n - 1] = 0;
  leaf = leaf_of(whole);
  if (strcmp(leaf, ".") == 0 || strcmp(leaf, "..") == 0 || strcmp(leaf, "/") == 0) leaf = "trace";
  const struct tk_path path = tk_path_of(leaf);
  snprintf(stem, sizeof stem, "%.*s", (int)(path.format && path.stem ? path.stem : strlen(leaf)), leaf);
  snprintf(m->made->title, sizeof m->made->title, in->n > 1 ? "%.100s and %zu more" : "%.100s", stem, in->n - 1);
  snprintf(m->made->name, sizeof m->made->name, "%.111s", *stem == '.' ? m->made->title + 1 : m->made->title);
  for (char *c = m->made->name; *c; c++)
    if (!is_safe(*c)) *c = '_';
}

/* ---- writing ---- */

static uint64_t comfort(const struct tk_saved *saved, int with) {
  if (with == VIEW_SPEEDSCOPE) return COMFORT_SPEEDSCOPE;
  return saved->format == tk_path_of(".pftrace").format ? COMFORT_PERFETTO : COMFORT_JSON;
}

static void put_losses(struct maker *m, const struct tk_saved *saved) {
  char count[32];
  for (int i = 0; i < TK_LOSSES; i++)
    if (saved->lost[i])
      leave_out(m, "%s cannot represent %s: %s.", saved->format->title,
                tk_loss_name((enum tk_loss)i), tty_count(saved->lost[i], count));
}

static void put_shrunk(struct maker *m, const struct tk_shrink_report *r) {
  char a[64], b[64], before[32], after[32];
  m->made->bytes_before = r->before;
  if (!m->made->events_before) m->made->events_before = r->events_before;
  tk_print_size(r->before, before);
  tk_print_size(r->saved.bytes, after);
  leave_out(m, "The file was shrunk from %s to %s, with %s of %s.", before, after, tty_count(r->saved.events, a),
            tty_counted(r->events_before, "event", b));
  tty_say("shrunk from %s to %s, keeping %s of %s", before, after, a, b);
  for (int i = 0; i < TK_SHRINK_RUNGS; i++) {
    const struct tk_shrink_rung *g = &r->rungs[i];
    if (g->events) leave_out(m, "Shrinking: removed %s (%s).", tty_counted(g->events, "event", a), g->name);
    if (g->args) leave_out(m, "Shrinking: removed args of %s.", tty_counted(g->args, "event", a));
  }
}

static bool shrink(struct maker *m, const char *name, uint64_t bytes, struct tk_saved *saved) {
  struct tk_shrink_report r;
  struct tk_err err = { 0 };
  const struct tk_shrink_options options = { .save = run_save_options(shared_of(m), "tracekit view", &m->progress),
                                             .bytes = bytes, .hard = m->p->hard };
  free(m->made->bytes.p);
  progress_start(&m->progress, "shrinking", NULL, shared_of(m)->quiet ? -1 : shared_of(m)->progress);
  const bool ok = tk_shrink_memory(m->t, name, &m->made->bytes, &options, &r, &err);
  progress_end(&m->progress);
  if (!ok) return fail(m, &err);
  *saved = r.saved;
  if (r.saved.bytes < r.before || r.saved.events < r.events_before) put_shrunk(m, &r);
  return true;
}

static bool save(struct maker *m, const char *name, struct tk_bytes *to, struct tk_saved *saved) {
  struct tk_err err = { 0 };
  const struct tk_save_options options = run_save_options(shared_of(m), "tracekit view", &m->progress);
  progress_start(&m->progress, "writing", NULL, shared_of(m)->quiet ? -1 : shared_of(m)->progress);
  const bool ok = tk_save_memory(m->t, name, to, &options, saved, &err);
  progress_end(&m->progress);
  return ok || fail(m, &err);
}

/* Returns the number of lost items that a timeline would show: spans, instants, counter samples and args. */
static uint64_t unseen(const struct tk_saved *s) {
  return s->lost[TK_LOSS_SPANS] + s->lost[TK_LOSS_INSTANTS] + s->lost[TK_LOSS_COUNTERS] + s->lost[TK_LOSS_ARGS];
}

/* If the saved file lacks items that a timeline would show, also saves the trace as `name`, in another format, and uses that
 * file if it lacks fewer. Returns false if the trace cannot be saved. */
static bool save_better(struct maker *m, const char *name, char *best, struct tk_saved *saved) {
  struct tk_bytes other = { 0 };
  struct tk_saved more;
  if (!unseen(saved)) return true;
  if (!save(m, name, &other, &more)) return false;
  if (unseen(&more) >= unseen(saved)) {
    free(other.p);
    return true;
  }
  free(m->made->bytes.p);
  m->made->bytes = other;
  *saved = more;
  snprintf(best, sizeof m->made->name, "%s", name);
  return true;
}

static bool says_yes(const char *size) {
  char answer[8];
  fprintf(stderr, "Shrink it to %s? [y/N] ", size);
  return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Warns if the file may be too large for the viewer, and on a terminal asks whether to shrink the file. */
static bool fit(struct maker *m, const char *name, struct tk_saved *saved) {
  const uint64_t most = comfort(saved, m->p->with);
  char size[32], limit[32], count[64];
  if (saved->raw_bytes <= most) return true;
  tk_print_size(saved->raw_bytes, size);
  tk_print_size(most, limit);
  tty_counted(saved->events, "event", count);
  tty_say("%s and %s may be too much for the viewer; --to SIZE shrinks the file", size, count);
  leave_out(m, "%s may be too large for this viewer; --to %lluMB shrinks the file.", size, (unsigned long long)(most / 1000000));
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || !says_yes(limit)) return true;
  return shrink(m, name, most, saved);
}

/* Returns .gz if the file goes through an SSH tunnel; on this machine, compression would only cost time. */
static const char *packing(void) { return getenv("SSH_CONNECTION") ? ".gz" : ""; }

/* Returns the extension of the format given by -f, or else of the format that the viewer reads best. */
static const char *best_ending(const struct maker *m) {
  const char *asked = shared_of(m)->format;
  for (size_t i = 0; asked && tk_format(i); i++)
    if (strcmp(tk_format(i)->name, asked) == 0) return tk_format(i)->ending;
  return m->p->with == VIEW_SPEEDSCOPE ? ".speedscope.json" : ".pftrace";
}

static bool write_any(struct maker *m, const char *other, struct tk_saved *saved) {
  struct view_made *made = m->made;
  if (m->p->to) return shrink(m, made->name, m->p->to, saved);
  if (!save(m, made->name, &made->bytes, saved)) return false;
  const bool free_choice = !shared_of(m)->format && m->p->with != VIEW_SPEEDSCOPE;
  return (!free_choice || save_better(m, other, made->name, saved)) && fit(m, made->name, saved);
}

static bool write_bytes(struct maker *m) {
  struct view_made *made = m->made;
  struct tk_saved saved;
  char stem[112], other[160];
  snprintf(stem, sizeof stem, "%.111s", made->name);
  snprintf(made->name, sizeof made->name, "%s%s%s", stem, best_ending(m), packing());
  snprintf(other, sizeof other, "%s%s%s", stem, tk_format(0)->ending, packing());
  if (!write_any(m, other, &saved)) return false;
  made->format = saved.format;
  made->events = saved.events;
  put_losses(m, &saved);
  return true;
}

/* ---- the rows ---- */

struct row {
  int64_t order;
  tk_id track;
  bool is_shown;
};

static int by_order(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return x->order != y->order ? (x->order < y->order ? -1 : 1) : x->track < y->track ? -1 : x->track > y->track;
}

/* Fills rows, indexed by track id, and sets is_shown for named processes that have events. */
static void find_rows(const struct tk_trace *t, struct row *rows) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    const tk_id process = k->kind == TK_TRACK_PROCESS ? i : k->parent;
    rows[i].order = k->has_sort ? k->sort_index : INT64_MAX;
    rows[i].track = i;
    if (k->count && t->tracks[process].name && !t->tracks[process].hidden) rows[process].is_shown = true;
  }
}

static void put_rows(const struct tk_trace *t, struct json *j) {
  struct row *rows = calloc((size_t)t->n_tracks + 1, sizeof *rows);
  size_t n = 0;
  if (rows) find_rows(t, rows);
  for (tk_id i = 1; rows && i <= t->n_tracks; i++)
    if (rows[i].is_shown && t->tracks[i].kind == TK_TRACK_PROCESS) rows[n++] = rows[i];
  if (n) qsort(rows, n, sizeof *rows, by_order);
  for (size_t i = 0; i < n; i++) {
    size_t len;
    const char *name = tk_string(t, t->tracks[rows[i].track].name, &len);
    json_text(j, NULL, name, len);
  }
  free(rows);
}

/* Writes made->rows: the names of processes with events, in the order of their rows. Returns false if out of memory. */
static bool tell_rows(struct maker *m) {
  size_t size;
  FILE *to = tty_open_text(&m->made->rows, &size);
  struct json j = { .to = to };
  if (!to) return false;
  json_open(&j, NULL, '[');
  put_rows(m->t, &j);
  json_close(&j, ']');
  return tty_close_text(to, &m->made->rows);
}

/* ---- all steps ---- */

static bool make(struct maker *m, const struct operands *in, const struct exprs *e) {
  name_it(m, in);
  if (!understand(m, e) || !load(m, in)) return false;
  struct tk_filter_options options = filter_options(m->p, e, m->ranked);
  return filter(m, &options) && tell_rows(m) && view_find_opening(m->t, m->p->at, m->made, &m->status) && write_bytes(m);
}

bool view_make(const struct view_params *p, const struct operands *in, struct view_made *made, int *status) {
  struct exprs e = select_expressions(&p->selected, "view");
  struct maker m = { .p = p, .made = made };
  *made = (struct view_made){ 0 };
  m.to = tty_open_text(&made->left_out, &m.size);
  m.left_out.to = m.to;
  if (m.to) json_open(&m.left_out, NULL, '[');
  bool ok = m.to && make(&m, in, &e);
  if (m.to) json_close(&m.left_out, ']');
  if (!m.to || !tty_close_text(m.to, &made->left_out)) m.status = run_no_memory(), ok = false;
  tk_free(m.t);
  select_free(&e);
  *status = ok ? STATUS_DONE : m.status ? m.status : run_no_memory();
  return ok;
}

void view_made_free(struct view_made *made) {
  free(made->bytes.p);
  free(made->left_out);
  free(made->rows);
  free(made->opening);
  *made = (struct view_made){ 0 };
}

/* ---- the report ---- */

/* Reads the file that the viewer shows, not the sources, so that no source is read twice and the selections are the same. */
char *view_report(const struct view_params *p, const struct view_made *made, size_t *size) {
  struct progress progress;
  struct tk_report *report = NULL;
  struct tk_err err = { 0 };
  const struct tk_report_options options = { .strips = true };
  const struct tk_load_options load_options = run_load_options(&p->selected.shared, &progress);
  char *text = NULL;
  progress_start(&progress, "reporting", NULL, -1);
  struct tk_trace *t = tk_load_memory(made->bytes.p, made->bytes.n, made->name, &load_options, &err);
  FILE *to = t && tk_report_trace(t, &options, &report, &err) ? tty_open_text(&text, size) : NULL;
  if (to) report_write_html(report, 30, false, to);
  if (!to || !tty_close_text(to, &text)) tty_say("report failed: %s", err.code ? err.msg : "out of memory");
  tk_report_free(report);
  tk_free(t);
  return text;
}
