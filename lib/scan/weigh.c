/* weigh.c - estimates the size that a rank would have as a separate file. A plan divides a requested size according to these
 * estimates.
 *
 * A sample of 8,192 events is formatted in each of three formats, with and without compression, and its size is scaled up. The
 * cost therefore does not depend on the rank's size. */
#include <stdio.h>

#include "weigh.h"
#include "op/sample.h"
#include "load/save.h"
#include "scan.h"

enum { SAMPLE = 1 << 13, WHOLE_TO = 2 * SAMPLE };

static bool weigh(const struct tk_trace *t, const struct format *f, uint64_t *plain, uint64_t *packed, struct tk_err *err) {
  char word[64];
  const struct tk_save_options save = {.format = word, .dry_run = true, .no_passthrough = true, .threads = 1};
  struct tk_saved saved;
  snprintf(word, sizeof word, "%s.gz", f->info.name);
  if (!tk_save(t, "-", &save, &saved, err)) return false;
  *plain = saved.raw_bytes;
  *packed = saved.bytes;
  return true;
}

static uint64_t whole(uint64_t sample, uint64_t bare, double scale) {
  return bare + (uint64_t)((double)(sample > bare ? sample - bare : 0) * scale);
}

static bool weigh_format(struct scan_size *s, const struct sample *some, const struct sample *none, const struct format *f,
                         double scale, struct tk_err *err) {
  if (!weigh(&none->view, f, &s->bare[SCAN_PLAIN], &s->bare[SCAN_PACKED], err)) return false;
  if (!weigh(&some->view, f, &s->bytes[SCAN_PLAIN], &s->bytes[SCAN_PACKED], err)) return false;
  for (int i = SCAN_PLAIN; i <= SCAN_PACKED; i++) s->bytes[i] = whole(s->bytes[i], s->bare[i], scale);
  return true;
}

bool scan_weigh(struct scan *s, const struct tk_trace *t, const struct format *only, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  const uint32_t every = t->n_events <= WHOLE_TO ? 1 : t->n_events / SAMPLE;
  struct sample some = {.depths = NULL}, none = {.depths = NULL};
  bool ok = sample_take(&some, t, every, mem, err) && sample_take(&none, t, 0, mem, err);
  const double scale = ok && some.view.n_events ? (double)t->n_events / some.view.n_events : 1;
  const struct format *f;
  for (size_t i = 0; ok && (f = format_row(i)) != NULL; i++)
    if (only ? f == only : f->in_parts) ok = weigh_format(&s->sizes[i], &some, &none, f, scale, err);
  sample_free(&some, mem);
  sample_free(&none, mem);
  return ok;
}
