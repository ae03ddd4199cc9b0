/* sources_notes.c - notes that tell the user why an input was chosen (sources_notes.h). */
#include "sources_notes.h"

#include "base/err.h"
#include "graph/trace.h"

void sources_note(struct tk_sources *s, struct chosen *c, bool repair, const char *text) {
  if (!c || c->n_notes == NOTES) return;
  c->note[c->n_notes].text = source_text(&s->impl->source, text);
  c->note[c->n_notes++].repair = repair;
}

void sources_decisions(const struct tk_sources *s, size_t i, struct tk_trace *t) {
  const struct chosen *c = &s->impl->chosen[i];
  for (unsigned k = 0; k < c->n_notes; k++)
    trace_note(t, c->note[k].repair ? TK_NOTE_REPAIR : TK_NOTE_INFO, UINT64_MAX, c->note[k].text);
}

void sources_suggest(const struct tk_sources *s, size_t i, struct tk_err *err) {
  const char *run = s->impl->chosen[i].sound_run;
  if (!run) return;
  err_append(err, "no file of this run can be read; the newest run with a trace is %s", run);
  err->option = TK_OPTION_LATEST_GOOD;
}
