/* join.c - joins the passthrough data of several graphs.
 *
 * Descriptions of event fields remain valid in the joined graph, and so do the properties of tracks: descriptions, units, orders.
 * Packets, machines, uuids and original pids are dropped, because they are only valid within one file. The start of a process, which is
 * a time in its file, is dropped as well, as in a merge to a file. */
#include "join.h"

#include <string.h>

#include "fields.h"
#include "format/pb_out.h"
#include "passthrough.h"
#include "schema.h"

/* Properties of the tracks that were joined so far: entries of perfetto.tracks. */
struct joined_tracks {
  struct buf all, entry, fields;
  uint64_t n_tracks; /* number of tracks of the graph that is being joined */
};

static bool is_known(const struct tk_trace *t, const char *text, uint64_t size) {
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (passthrough_is(t, m, PASSTHROUGH_EXTENSIONS) && m->size == size && memcmp(trace_raw(t, m->at), text, (size_t)size) == 0)
      return true;
  }
  return false;
}

/* True if the two graphs describe an extension differently. The args of `from` then remain args without a description. */
static bool have_conflict(struct tk_trace *to, const struct tk_trace *from) {
  struct schema a, b;
  schema_init(&a, &to->store->mem);
  schema_init(&b, &to->store->mem);
  passthrough_schema(to, &a);
  passthrough_schema(from, &b);
  const bool differ = schema_conflicts(&a, &b);
  schema_free(&a);
  schema_free(&b);
  return differ;
}

static void join_extensions(struct tk_trace *to, const struct tk_trace *from) {
  if (passthrough_find(from, PASSTHROUGH_EXTENSIONS) && have_conflict(to, from)) return;
  for (tk_id i = 1; i <= from->n_metas; i++) {
    struct tk_meta m = from->metas[i];
    const char *text = trace_raw(from, m.at);
    if (!passthrough_is(from, &m, PASSTHROUGH_EXTENSIONS) || is_known(to, text, m.size)) continue;
    m.key = trace_text(to, PASSTHROUGH_EXTENSIONS);
    m.at = to->store->raw.len;
    buf_append(&to->store->raw, text, (size_t)m.size);
    trace_end_raw(to);
    *trace_add_meta(to) = m;
  }
}

/* ---- tracks ---- */

/* Appends a property in an entry to j->entry. */
static void add_property(struct joined_tracks *j, const struct tk_trace *to, tk_id track, const struct pb_field *f,
                         const struct join_ids *ids) {
  const tk_id parent = f->number == PASSTHROUGH_PARENT_TRACK && f->value <= j->n_tracks ? ids->tracks[f->value] : 0;
  j->fields.len = 0;
  if (parent) pb_u64(&j->entry, PASSTHROUGH_PARENT_TRACK, parent);
  if (f->number == PASSTHROUGH_FIELDS || f->number == PASSTHROUGH_LEGACY) pb_field(&j->entry, f);
  if (f->number != PASSTHROUGH_INNER_FIELDS) return;
  if (to->tracks[track].kind == TK_TRACK_PROCESS) passthrough_without_times(f, &j->fields);
  else buf_append(&j->fields, f->p, (size_t)f->value);
  if (j->fields.len) pb_message(&j->entry, PASSTHROUGH_INNER_FIELDS, &j->fields);
}

static void join_track(struct joined_tracks *j, const struct tk_trace *to, const struct pb_field *entry, const struct join_ids *ids) {
  struct pb in = pb_inside(entry);
  struct pb_field f;
  if (!pb_next(&in, &f) || f.number != PASSTHROUGH_TRACK || f.value > j->n_tracks || !ids->tracks[f.value]) return;
  const tk_id track = ids->tracks[f.value];
  j->entry.len = 0;
  pb_u64(&j->entry, PASSTHROUGH_TRACK, track);
  const size_t empty = j->entry.len;
  while (pb_next(&in, &f)) add_property(j, to, track, &f, ids);
  if (j->entry.len > empty) pb_message(&j->all, 1, &j->entry);
}

static struct joined_tracks *tracks_of(struct tk_trace *to, void **state) {
  struct mem *mem = &to->store->mem;
  struct joined_tracks *j = *state;
  if (!j && (j = *state = mem_alloc(mem, sizeof *j)))
    *j = (struct joined_tracks){.all.mem = mem, .entry.mem = mem, .fields.mem = mem};
  return j;
}

void perfetto_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state) {
  const struct tk_meta *m = passthrough_find(from, PASSTHROUGH_TRACKS);
  struct joined_tracks *j = m ? tracks_of(to, state) : NULL;
  struct pb in = j ? pb_over(trace_raw(from, m->at), (size_t)m->size) : pb_over("", 0);
  struct pb_field entry;
  if (j) j->n_tracks = from->n_tracks;
  while (pb_next(&in, &entry)) join_track(j, to, &entry, ids);
  join_extensions(to, from);
}

/* Appends the entries to those of the joined graph, if it has any, because a graph has at most one such meta. */
void perfetto_join_finish(struct tk_trace *to, void *state) {
  struct joined_tracks *j = state;
  struct tk_store *s = to->store;
  const struct tk_meta *old = passthrough_find(to, PASSTHROUGH_TRACKS);
  struct tk_meta m = {.key = trace_text(to, PASSTHROUGH_TRACKS), .at = s->raw.len, .size = j->all.len, .origin = PERFETTO_FORMAT};
  if (old) {
    j->entry.len = 0;
    buf_append(&j->entry, trace_raw(to, old->at), (size_t)old->size);
    buf_append(&s->raw, j->entry.data, j->entry.len);
    m.size += old->size;
  }
  buf_append(&s->raw, j->all.data, j->all.len);
  trace_end_raw(to);
  if (old) to->metas[old - to->metas] = m;
  else if (m.size) *trace_add_meta(to) = m;
  buf_free(&j->all);
  buf_free(&j->entry);
  buf_free(&j->fields);
  mem_free(&s->mem, j);
}
