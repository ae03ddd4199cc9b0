/* merged_flows.c - separates the flows of different ranks in a trace that another program merged.
 *
 * Each rank counts the ids of its flows from the same number, and the programs of merged.h leave the ids as they are, so that an arrow
 * could lead from a launch of one rank to a kernel of another. If several ranks start a flow of the same class and id, the ids of this
 * class are valid within a rank only. A class without such ids keeps its flows between ranks. */
#include "merged.h"

#include "base/hash.h"
#include "base/map.h"
#include "graph/chain.h"

struct parting {
  struct tk_trace *t;
  struct mem *mem;
  int64_t *rank;        /* by track, of processes */
  bool *parted;         /* by class: true if its ids are valid within a rank only */
  struct chains chains; /* a chain is represented by its first point */
  struct map ids;       /* first point of a chain, and rank -> number of the new id */
  int64_t most;         /* largest id */
  uint32_t n_changed;
};

static int64_t rank_of_point(const struct parting *p, const struct tk_flow_point *f) {
  const tk_id track = tk_flow_point_track(p->t, f);
  return p->rank[p->t->tracks[track].kind == TK_TRACK_PROCESS ? track : p->t->tracks[track].parent];
}

/* Marks the classes in which several ranks start a flow of the same id. */
static bool find_parted(struct parting *p) {
  struct chains starts; /* a chain is represented by its first start */
  if (!chains_init(&starts, p->t, p->mem)) return false;
  for (tk_id i = 1; i <= p->t->n_flow_points; i++) {
    const struct tk_flow_point *f = &p->t->flow_points[i];
    if (f->id_kind == TK_FLOW_ID_INT && f->id > p->most) p->most = f->id;
    if (!flow_starts(f) || rank_of_point(p, f) < 0) continue;
    tk_id *first = chains_of(&starts, f);
    if (!*first) *first = i;
    else if (rank_of_point(p, &p->t->flow_points[*first]) != rank_of_point(p, f)) p->parted[f->cls] = true;
  }
  chains_free(&starts);
  return true;
}

/* If ids of the point's class are valid within a rank only, gives the point a new id for its rank, unless the first point of
 * its chain belongs to the same rank. */
static bool part_point(struct parting *p, tk_id i) {
  struct tk_flow_point *f = &p->t->flow_points[i];
  const int64_t rank = rank_of_point(p, f);
  if (!p->parted[f->cls] || rank < 0) return true;
  tk_id *first = chains_of(&p->chains, f);
  if (!*first) *first = i;
  if (rank_of_point(p, &p->t->flow_points[*first]) == rank) return true;
  uint32_t *slot = map_put(&p->ids, hash_pair(*first, (uint64_t)rank), 0);
  if (!slot || (!*slot && p->most == INT64_MAX)) return false;
  if (!*slot) *slot = ++p->n_changed;
  f->id_kind = TK_FLOW_ID_INT;
  f->id = p->most + *slot;
  return true;
}

static void part_all(struct parting *p) {
  bool ok = find_parted(p) && chains_init(&p->chains, p->t, p->mem);
  map_init(&p->ids, p->mem);
  for (tk_id i = 1; ok && i <= p->t->n_flow_points; i++) ok = part_point(p, i);
  if (p->n_changed)
    trace_notes(p->t, TK_NOTE_FACT, UINT64_MAX, "flows whose id another rank uses, too: given separate ids", p->n_changed);
  map_free(&p->ids);
  chains_free(&p->chains);
}

void merged_part_flows(struct tk_trace *t) {
  struct mem *mem = &t->store->mem;
  struct parting p = {.t = t, .mem = mem};
  if (!t->n_flow_points || trace_meta(t, "tracekit")) return;
  p.rank = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *p.rank);
  if (p.rank && merged_ranks(t, p.rank, mem) > 1) {
    p.parted = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *p.parted);
    for (tk_id i = 0; p.parted && i <= t->n_classes; i++) p.parted[i] = false;
    if (p.parted) part_all(&p);
  }
  mem_free(mem, p.parted);
  mem_free(mem, p.rank);
}
