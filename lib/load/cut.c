/* cut.c - implements tk_sources_load_cut: loads a trace without the data that a cut in time removes. */
#include "base/err.h"
#include "op/window.h"
#include "source/sources.h"
#include "source/sources_beside.h"

/* True if the data can be left out while reading: times are those of the file, which is not joined with another recording and can be
 * read again. */
static bool is_simple(const struct tk_sources *s, size_t i, const char *time, struct window *w) {
  return window_plain(time, w) && sources_is_file(s, i) && !sources_piece(s, i, 1);
}

/* True if the cut needs data that was left out, for example because a range that ends with the last event has no end. */
static bool lacks_data(const struct tk_trace *t, const char *time) {
  const struct trace_early *e = &t->store->early;
  const struct window_frame frame = window_frame(t);
  const i128 zero = ((i128)t->zero_ns - t->origin_ns) * 1000;
  struct tk_err unused = {.code = TK_OK};
  struct window w;
  if (!e->n) return false;
  if (e->failed || !window_parse(time, &frame, &w, &unused)) return true;
  const bool early = w.start == INT64_MIN ? e->start != INT64_MIN : w.start < e->start + zero;
  return early || (w.end == INT64_MAX ? e->end != INT64_MAX : w.end > e->end + zero);
}

struct tk_trace *tk_sources_load_cut(struct tk_sources *s, size_t i, const char *time, const char *format,
                                     const struct tk_load_options *opt, struct tk_err *err) {
  struct window w;
  if (!time || !is_simple(s, i, time, &w)) return tk_sources_load(s, i, opt, err);
  sources_set_cut(s, (struct trace_early){.start = w.start, .end = w.end, .asked = true, .format = format});
  struct tk_trace *t = tk_sources_load(s, i, opt, err);
  sources_set_cut(s, (struct trace_early){.asked = false});
  if (!t || !lacks_data(t, time)) return t;
  tk_free(t);
  return tk_sources_load(s, i, opt, err);
}
