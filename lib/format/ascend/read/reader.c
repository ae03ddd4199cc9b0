/* reader.c - see reader.h. */
#include "reader.h"

#include <stdio.h>

static tk_id named(struct ascend *r, tk_id track, const char *name) {
  if (!r->d.t->tracks[track].name) database_name(&r->d, track, trace_text(r->d.t, name));
  return track;
}

tk_id ascend_process(struct ascend *r, enum ascend_row row, int64_t device, const char *name) {
  const int64_t pid = (int64_t)((uint64_t)r->pid << 10 | (unsigned)row << 5 | ((uint64_t)device & 31));
  const tk_id id = named(r, trace_process(r->d.t, ident_int(pid)), name);
  char label[32] = "CPU";
  if (row != ROW_CANN) snprintf(label, sizeof label, "NPU %lld", (long long)device);
  if (!r->d.t->tracks[id].labels) r->d.t->tracks[id].labels = trace_text(r->d.t, label);
  return id;
}

tk_id ascend_thread(struct ascend *r, tk_id process, int64_t tid, const char *name) {
  return named(r, trace_track(r->d.t, TK_TRACK_THREAD, r->d.t->tracks[process].pid, ident_int(tid), 0), name);
}

void ascend_link(struct ascend *r, tk_id from, tk_id to, const char *name, const char *category) {
  struct tk_trace *t = r->d.t;
  database_link(&r->d, from, to, trace_class(t, trace_text(t, name), trace_text(t, category)));
}

bool ascend_is_connection(const struct cell *c) { return c->type == CELL_INT && c->i >= 0 && c->i != UINT32_MAX; }
