/* load.c - source -> input -> detect -> read -> seal: what tk_load does. */
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "format/format.h"
#include "graph/seal.h"
#include "io/in.h"
#include "load.h"

uint64_t load_memory_limit(uint64_t asked) {
  if (asked) return asked;
  return os_memory() / 4 * 3;
}

/* What the input layer repaired becomes notes of the trace. */
static void keep_input_notes(struct tk_trace *t, const struct in *in) {
  const struct in_note *notes;
  size_t n = in_notes(in, &notes);
  for (size_t i = 0; i < n; i++)
    trace_note(t, notes[i].repair ? TK_NOTE_REPAIR : TK_NOTE_INFO, notes[i].offset, notes[i].text);
}

static bool refuse_repairs(const struct tk_trace *t, struct tk_err *err) {
  for (tk_id i = 1; i <= t->n_notes; i++)
    if (t->notes[i].kind == TK_NOTE_REPAIR)
      return err_at(err, TK_ECORRUPT, t->notes[i].offset, "--strict: %s", tk_string(t, t->notes[i].text, NULL));
  return true;
}

static const struct format *choose(struct in *in, const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  const struct format *f;
  if (!opt->format) return format_detect(in, source, err);
  f = format_by_name(opt->format);
  if (!f) err_set(err, TK_EUSAGE, "unknown format '%s'", opt->format);
  return f;
}

static bool read_input(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  const struct format *f = choose(in, t->source, opt, err);
  if (!f) return false;
  t->format = f->info.name;
  if (!f->read(in, t, opt, err)) return false;
  keep_input_notes(t, in);
  if (!seal(t, err)) return false;
  if (opt->check && !tk_check(t, err)) return false;
  return !opt->strict || refuse_repairs(t, err);
}

struct tk_trace *load_input(struct in *in, const char *source, const struct tk_load_options *opt, struct tk_trace *t,
                            struct tk_err *err) {
  size_t n = strlen(source) + 1;
  bool ok;
  t->store->source = malloc(n);
  if (t->store->source) memcpy(t->store->source, source, n);
  t->source = t->store->source ? t->store->source : "";
  ok = in && read_input(in, t, opt, err);
  if (in) in_close(in);
  if (ok) return t;
  err_prefix(err, "%s", strcmp(source, "-") == 0 ? "standard input" : source);
  tk_free(t);
  return NULL;
}

struct tk_trace *tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct tk_err own;
  struct tk_trace *t;
  if (!err) err = &own;
  err_clear(err);
  if (!opt) opt = &defaults;
  t = trace_new(load_memory_limit(opt->max_memory));
  if (!t) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  bool threads = (opt->threads ? opt->threads : os_cores()) > 1;
  struct in *in = (threads ? in_open_ahead : in_open)(source, opt->max_size, &t->store->mem, err);
  return load_input(in, source, opt, t, err);
}
