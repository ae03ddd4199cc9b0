/* sources_timed.c - see sources_timed.h.
 *
 * Programs write the samples of a rank into its folder, too: rank0_trace.json beside rank0_stacks.txt, whose stacks have counts but
 * no times. As an input, such a file would be a second rank 0 that starts in 1970, and the timeline would last for decades. Files that
 * the user names are always read. */
#include "sources_timed.h"

#include <stdio.h>
#include <string.h>

#include "format/format.h"
#include "sources_notes.h"

enum { NAMED = 3 };

static bool is_untimed(const struct tk_sources *s, size_t i) {
  const uint32_t entry = s->impl->chosen[i].entry;
  const char *name = entry == UINT32_MAX ? NULL : s->impl->source.entries[entry].format;
  const struct format *f = name ? format_by_name(name) : NULL;
  return f && f->info.resolution == TK_NO_TIMES;
}

/* True for a trace with times, but not for a file that cannot be read. */
static bool is_timed(const struct tk_sources *s, size_t i) {
  const uint32_t entry = s->impl->chosen[i].entry;
  return entry != UINT32_MAX && s->impl->source.entries[entry].format && !is_untimed(s, i);
}

static void note_dropped(struct tk_sources *s, size_t first, const char *names, uint32_t n) {
  char text[512];
  snprintf(text, sizeof text, "samples without times: left out %u file%s (%s); to include %s, name each file", n, n == 1 ? "" : "s",
           names, n == 1 ? "it" : "them");
  sources_note(s, &s->impl->chosen[first], false, text);
}

/* Drops the untimed inputs of a run, which are those from `first` to `end`. Moves the others to `to`. Returns their end. */
static size_t keep_run(struct tk_sources *s, size_t first, size_t end, size_t to) {
  const size_t start = to;
  char names[256] = "";
  uint32_t dropped = 0;
  bool timed = false;
  for (size_t i = first; i < end; i++) timed = timed || is_timed(s, i);
  for (size_t i = first; i < end; i++) {
    if (timed && is_untimed(s, i)) {
      const struct rundir_file *f = &s->impl->source.places[s->impl->chosen[i].entry];
      const size_t n = strlen(names);
      if (++dropped <= NAMED + 1) snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", dropped > NAMED ? "..." : f->rel);
      continue;
    }
    s->inputs[to] = s->inputs[i];
    s->impl->chosen[to++] = s->impl->chosen[i];
  }
  if (dropped) note_dropped(s, start, names, dropped);
  return to;
}

void sources_timed_keep(struct tk_sources *s, size_t first) {
  size_t to = first, end;
  if (s->impl->opt.join) return;
  for (size_t i = first; i < s->n; i = end) {
    for (end = i + 1; end < s->n && s->inputs[end].run_id == s->inputs[i].run_id;) end++;
    to = keep_run(s, i, end, to);
  }
  s->n = s->impl->n = (uint32_t)to;
}
