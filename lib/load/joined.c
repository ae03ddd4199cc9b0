/* joined.c - see joined.h. */
#include "joined.h"

#include <stdio.h>
#include <string.h>

#include "format/format.h"
#include "format/json.h"

/* ---- names ---- */

/* Adds a metadata record with the name of the track, as in Chrome JSON. */
static void joined_add_name(struct tk_trace *t, tk_id track, enum tk_record_kind kind) {
  static const struct {
    const char *name, *arg;
  } RECORDS[] = {[TK_RECORD_PROCESS_NAME] = {"process_name", "name"},
                 [TK_RECORD_PROCESS_LABELS] = {"process_labels", "labels"},
                 [TK_RECORD_PROCESS_SORT] = {"process_sort_index", "sort_index"},
                 [TK_RECORD_THREAD_NAME] = {"thread_name", "name"},
                 [TK_RECORD_THREAD_SORT] = {"thread_sort_index", "sort_index"}};
  const struct tk_track *k = &t->tracks[track];
  struct buf *raw = &t->store->raw;
  struct tk_record r = {.track = track, .kind = (uint8_t)kind, .phase = 'M', .derived = true, .at = raw->len};
  const struct intern_str *text = trace_str(t, kind == TK_RECORD_PROCESS_LABELS ? k->labels : k->name);
  char number[24];
  r.strong = k->pid.kind != TK_IDENT_NONE || k->tid.kind != TK_IDENT_NONE;
  buf_text(raw, "\"ph\":\"M\",\"name\":\"");
  buf_text(raw, RECORDS[kind].name);
  buf_text(raw, "\",\"args\":{\"");
  buf_text(raw, RECORDS[kind].arg);
  buf_text(raw, "\":");
  if (kind == TK_RECORD_PROCESS_SORT || kind == TK_RECORD_THREAD_SORT) buf_append(raw, number, num_put_i64(number, k->sort_index));
  else json_quote(raw, text->bytes, text->len);
  buf_text(raw, "}");
  r.size = (uint32_t)(raw->len - r.at);
  *trace_add_record(t) = r;
}

/* Adds records for the names, labels and sort indices of tracks, beginning with track `first`, unless a record contains them
 * already. Counter tracks need none because their name is their identity. */
void joined_add_names(struct tk_trace *t, tk_id first) {
  for (tk_id i = first; i <= t->n_tracks; i++) {
    struct tk_track *k = &t->tracks[i];
    bool process = k->kind == TK_TRACK_PROCESS;
    if (!k->renamed || k->hidden || k->kind == TK_TRACK_COUNTERS) continue;
    if (k->name) joined_add_name(t, i, process ? TK_RECORD_PROCESS_NAME : TK_RECORD_THREAD_NAME);
    if (k->labels) joined_add_name(t, i, TK_RECORD_PROCESS_LABELS);
    if (k->has_sort) joined_add_name(t, i, process ? TK_RECORD_PROCESS_SORT : TK_RECORD_THREAD_SORT);
    t->tracks[i].renamed = false;
  }
}

/* False for a record with the old name of a track that an operation has renamed. */
bool joined_is_valid(const struct tk_trace *t, const struct tk_record *r) {
  return r->kind == TK_RECORD_OTHER || !r->track || !t->tracks[r->track].renamed;
}

/* ---- top-level keys ---- */

/* Adds a top-level key. Removes line breaks from the value: they can only be formatting, because a JSON string cannot contain a line
 * break. */
void joined_add_meta(struct tk_trace *t, tk_id key, bool after, const char *text, size_t n) {
  struct buf *raw = &t->store->raw;
  struct tk_meta m = {.key = key, .at = raw->len, .after = after};
  for (const char *end = text + n, *line = text, *stop; line < end; line = stop + 1) {
    stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) stop = end;
    buf_append(raw, line, (size_t)(stop - line));
  }
  m.size = raw->len - m.at;
  trace_end_raw(t);
  *trace_add_meta(t) = m;
}

void joined_add_metas(struct tk_trace *t, const struct tk_trace *first, bool after) {
  static const char OURS[] = "tracekit";
  for (tk_id i = 1; i <= first->n_metas; i++) {
    const struct tk_meta *m = &first->metas[i];
    size_t n;
    const char *key = tk_string(first, m->key, &n);
    if (m->origin || m->after != after || strcmp(key, OURS) == 0) continue;
    joined_add_meta(t, trace_string(t, key, n), after, trace_raw(first, m->at), (size_t)m->size);
  }
}

/* ---- passthrough ---- */

void joined_passthrough(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **states) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    if (f->join) f->join(to, from, ids, &states[i]);
}

void joined_finish_passthrough(struct tk_trace *to, void **states) {
  for (size_t i = 0; i < FORMATS_MOST; i++) {
    if (states[i]) format_row(i)->join_finish(to, states[i]);
    states[i] = NULL;
  }
}
