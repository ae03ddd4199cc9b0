/* cut.c - implements tk_sources_load_cut: loads a trace without the data that a cut in time removes.
 *
 * The reader needs the range in times of the file. Ranges such as "+2s..+3s" or "25%..50%" depend on the first and last event. If the
 * input is large, it is then read twice: the first time without any data that can be left out, to find these events. A pipe is copied
 * to a temporary file, because a cut may need data that was left out. If events were left out that later events make necessary, the
 * input is read again with all events. */
#include "base/err.h"
#include "base/os.h"
#include "format/format.h"
#include "op/window.h"
#include "source/sources.h"
#include "source/sources_beside.h"
#include "source/sources_parts.h"

#include <string.h>

enum { LARGE = 8 }; /* an input is large from 1/8 of the memory limit on */

/* True if the data can be left out while reading: the input is not joined with another recording, and can be read again. */
static bool is_simple(const struct tk_sources *s, size_t i) { return sources_is_file(s, i) && !sources_piece(s, i, 1); }

/* Copies a pipe whose data can be left out. Returns false only on an interrupt. */
static bool keep_pipe(struct tk_sources *s, size_t i, const char *to, const struct tk_load_options *opt, struct tk_err *err) {
  const char *name = sources_is_file(s, i) ? NULL : sources_format(s, i);
  const struct format *from = name ? format_by_name(name) : NULL;
  if (!from || !from->passthrough_times || (to && strcmp(to, from->info.name) != 0)) return true;
  const struct tk_progress progress = opt ? opt->progress : (struct tk_progress){.tick = NULL};
  return sources_keep(s, i, &progress, err);
}

static bool is_large(struct tk_sources *s, size_t i, const struct tk_load_options *opt) {
  const uint64_t limit = os_memory_limit(opt ? opt->max_memory : 0);
  struct tk_err unused = {.code = TK_OK};
  struct mem mem = {0};
  struct in *in = sources_raw(s, i, &mem, &unused);
  const bool large = in && limit && in_size(in) >= limit / LARGE;
  if (in) in_close(in);
  return large;
}

/* Converts a side of a range to ps since the zero of the file; open sides stay. Returns false if the time does not fit. */
static bool since_zero(const struct tk_trace *t, tk_time *at) {
  const i128 ps = (i128)*at - ((i128)t->zero_ns - t->origin_ns) * 1000;
  if (*at == INT64_MIN || *at == INT64_MAX) return true;
  *at = (tk_time)ps;
  return *at == ps;
}

/* Parses the range for a loaded trace; *w is in ps since the zero of its file. Returns false if it does not fit: the file counts from
 * more than 106 days before. */
static bool window_in(const struct tk_trace *t, const char *time, struct window *w) {
  const struct window_frame frame = window_frame(t);
  struct tk_err unused = {.code = TK_OK};
  return window_parse(time, &frame, w, &unused) && since_zero(t, &w->start) && since_zero(t, &w->end);
}

/* True if loading left out data that the range needs. Example: a range that ends with the last event also includes data after this
 * event, but loading stopped there. */
static bool lacks_data(const struct tk_trace *t, const char *time) {
  const struct trace_early *e = &t->store->early;
  struct window w;
  return (e->n || e->events) && (e->failed || !window_in(t, time, &w) || w.start < e->start || w.end > e->end);
}

static struct tk_trace *load_for(struct tk_sources *s, size_t i, struct trace_early cut, const struct tk_load_options *opt,
                                 struct tk_err *err) {
  sources_set_cut(s, cut);
  struct tk_trace *t = tk_sources_load(s, i, opt, err);
  if (t && t->store->early.failed && t->store->early.guessed) {
    tk_free(t);
    cut.is_certain = true;
    sources_set_cut(s, cut);
    t = tk_sources_load(s, i, opt, err);
  }
  sources_set_cut(s, (struct trace_early){.asked = false});
  return t;
}

struct tk_trace *tk_sources_load_cut(struct tk_sources *s, size_t i, const char *time, const char *format,
                                     const struct tk_load_options *opt, struct tk_err *err) {
  struct trace_early cut = {.start = INT64_MIN, .end = INT64_MIN, .asked = true, .format = format};
  struct window w = {0};
  struct tk_trace *t;
  if (time && !keep_pipe(s, i, format, opt, err)) return NULL;
  bool known = time && is_simple(s, i) && window_plain(time, &w);
  if (time && !known && is_simple(s, i) && is_large(s, i, opt)) {
    t = load_for(s, i, cut, opt, err);
    if (!t || !(t->store->early.n + t->store->early.events)) return t;
    known = t->n_events && !t->store->early.failed && window_in(t, time, &w); /* without events, the range depends on packets */
    tk_free(t);
  }
  if (!known) return tk_sources_load(s, i, opt, err);
  cut.start = w.start;
  cut.end = w.end;
  t = load_for(s, i, cut, opt, err);
  if (!t || !lacks_data(t, time)) return t;
  tk_free(t);
  return tk_sources_load(s, i, opt, err);
}
