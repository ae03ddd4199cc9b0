/* finish_filed.c - stores tracks as the file describes them (struct format_track), for queries that must return the same rows
 * as trace_processor.
 *
 * The graph cannot represent the parent of a named track or a counter, units, descriptions and the order of siblings. Only for
 * a trace that is loaded for queries, these are stored separately, by track. */
#include <string.h>

#include "finish_filed.h"
#include "track.h"

enum { DESCRIPTION = 14, PARENTS_MOST = 512 };

/* Returns the nearest process or thread, starting with the node itself and then going up its parents; 0 = none. *named: the
 * parent, if it is a named track or a counter. */
static uint32_t scope_of(const struct perfetto *r, uint32_t at, uint32_t *named) {
  uint32_t n = at;
  *named = 0;
  for (unsigned i = 0; i < PARENTS_MOST; i++) {
    const struct node *k = &r->nodes[n];
    if (k->kind == NODE_PROCESS || k->kind == NODE_THREAD) return n;
    if (n != at && !*named && !k->is_default) *named = n;
    if (!k->has_parent) return 0;
    n = track_find_node(r, k->machine, k->parent_uuid);
    if (!n || !r->nodes[n].described) return 0;
  }
  return 0;
}

static tk_id track_of(const struct node *n) {
  if (n->tracks[ON_TRACK]) return n->tracks[ON_TRACK];
  return n->tracks[n->kind == NODE_COUNTER ? ON_COUNTER : ON_PROCESS];
}

/* Reads those fields of the descriptor that the graph cannot represent. */
static void read_fields(struct perfetto *r, const struct node *n, struct format_track *track) {
  const struct intern_str *fields = trace_str(r->t, n->fields);
  struct pb c = pb_over(fields->bytes, fields->len);
  struct pb_field f;
  while (n->fields && pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(DESCRIPTION, PB_BYTES)) track->description = perfetto_field_text(r, &f);
    if (pb_field_key(&f) == PB_KEY(DESCRIPTOR_DISALLOW_MERGING, PB_VARINT)) track->apart = f.value != 0;
    if (pb_field_key(&f) == PB_KEY(DESCRIPTOR_CHILD_ORDERING, PB_VARINT)) track->ordering = f.value <= 3 ? (uint8_t)f.value : 0;
  }
}

static void describe(struct perfetto *r, uint32_t at, struct format_track *tracks) {
  static const uint8_t KINDS[] = {[NODE_UNKNOWN] = FORMAT_TRACK_NAMED, [NODE_PROCESS] = FORMAT_TRACK_PROCESS,
                                  [NODE_THREAD] = FORMAT_TRACK_THREAD, [NODE_COUNTER] = FORMAT_TRACK_COUNTER,
                                  [NODE_NAMED] = FORMAT_TRACK_NAMED};
  const struct node *n = &r->nodes[at];
  const tk_id id = track_of(n);
  uint32_t named, scope = scope_of(r, at, &named);
  if (!id || id > r->t->n_tracks || tracks[id].kind) return;
  struct format_track track = {.id = n->uuid, .kind = KINDS[n->kind], .used = n->used, .global = scope == 0,
                               .rank = (int32_t)n->rank, .has_rank = n->has_rank, .alone = n->last_name_counts, .unit = n->unit};
  track.ranked = n->has_rank && (n->kind == NODE_PROCESS ? r->orders_processes : r->orders_threads);
  if (named) track.parent = track_of(&r->nodes[named]);
  if (scope && r->nodes[scope].kind == NODE_THREAD) track.thread = track_of(&r->nodes[scope]);
  read_fields(r, n, &track);
  tracks[id] = track;
  if (n->kind == NODE_PROCESS && n->tracks[ON_PROCESS]) tracks[n->tracks[ON_PROCESS]].ranked = track.ranked;
}

/* Marks nodes that have events, and the nodes above them. */
static void mark_used(struct perfetto *r) {
  for (uint32_t i = 1; i <= r->n_nodes; i++)
    for (uint32_t n = r->nodes[i].has_events ? i : 0; n && !r->nodes[n].used;) {
      r->nodes[n].used = true;
      n = r->nodes[n].has_parent ? track_find_node(r, r->nodes[n].machine, r->nodes[n].parent_uuid) : 0;
    }
}

void perfetto_filed_tracks(struct perfetto *r) {
  struct tk_trace *t = r->t;
  const uint64_t n = (uint64_t)t->n_tracks + 1;
  struct format_track *tracks = mem_zeros(&t->store->mem, n, sizeof *tracks);
  if (!tracks) return;
  mark_used(r);
  for (uint32_t i = 1; i <= r->n_nodes; i++) describe(r, i, tracks);
  perfetto_add_passthrough(r, PASSTHROUGH_FILED, tracks, (size_t)n * sizeof *tracks);
  mem_free(&t->store->mem, tracks);
}
