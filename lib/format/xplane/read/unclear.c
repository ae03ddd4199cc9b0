/* unclear.c - marks events whose metadata other formats would confuse.
 *
 * Other formats store the name and the stats of metadata as name and args of each event, and write/adopted.c finds the metadata again
 * by name and args. The search fails if metadata has two stats with the same name, or a stat without a name. It finds the wrong
 * metadata if an earlier entry has the same name and stats, but different bytes or children. Events with such metadata get the
 * metadata's id as an arg. */
#include <string.h>

#include "graph/args.h"
#include "unclear.h"

struct unclear {
  struct xplane_reader *r;
  struct xplane_names names;
  struct map last;  /* metadata id -> index of the last entry with this id, plus 1 */
  struct map first; /* hash of name and stats -> lower half of a hash of the other contents of the first such entry */
  struct map ids;   /* ids of unclear metadata */
};

static uint64_t hash_value(const struct xplane_names *names, const struct xstat *s) {
  const struct xplane_name *ref = s->field == XSTAT_REF ? xplane_name_of(names, (int64_t)s->value) : NULL;
  const bool whole = s->field == XSTAT_INT64 || s->field == XSTAT_UINT64;
  double d = whole ? (double)(int64_t)s->value : pb_as_double(s->value);
  uint64_t bits;
  if (s->field == XSTAT_REF) return hash_text(ref ? ref->text.p : (const uint8_t *)"", ref ? ref->text.n : 0);
  if (s->p) return hash_text(s->p, (size_t)s->value);
  if (d == 0) d = 0; /* so that 0 and -0 have the same hash */
  memcpy(&bits, &d, sizeof bits);
  return hash_number(bits);
}

/* Adds the hash of the stats to *hash. Returns false if two stats have the same name or a stat has none. */
static bool hash_stats(const struct unclear *u, struct pb metadata, uint64_t *hash) {
  uint64_t names[64];
  unsigned n = 0;
  struct pb_field f;
  struct xstat s;
  bool odd = false;
  while (pb_next(&metadata, &f)) {
    struct pb c = pb_inside(&f);
    if (f.number != XEVENT_METADATA_STATS || !xplane_stat(&c, &s, &odd)) continue;
    const struct xplane_name *name = xplane_name_of(&u->names, s.id);
    if (!name || n == sizeof names / sizeof *names) return false;
    names[n] = hash_text(name->text.p, name->text.n);
    for (unsigned i = 0; i < n; i++)
      if (names[i] == names[n]) return false;
    *hash += hash_pair(names[n++], hash_value(&u->names, &s));
  }
  return true;
}

/* Returns a hash of the fields that other formats do not show. */
static uint64_t hash_rest(struct pb metadata) {
  struct pb_field f;
  uint64_t hash = 1;
  for (const uint8_t *from = metadata.p; pb_next(&metadata, &f); from = metadata.p)
    if (f.number == XEVENT_METADATA_METADATA || f.number >= XEVENT_METADATA_CHILD_ID)
      hash = hash_pair(hash, hash_text(from, (size_t)(metadata.p - from)));
  return hash;
}

static void judge(struct unclear *u, int64_t id, struct pb metadata) {
  struct pb again = metadata;
  struct pb_field f, name = {.p = (const uint8_t *)""}, display = {.p = (const uint8_t *)""};
  while (pb_next(&again, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_DISPLAY_NAME, PB_BYTES)) display = f;
  }
  uint64_t hash = hash_pair(hash_text(name.p, (size_t)name.value), hash_text(display.p, (size_t)display.value));
  bool clear = hash_stats(u, metadata, &hash);
  const uint32_t rest = (uint32_t)hash_rest(metadata);
  const uint32_t *first = clear ? map_put(&u->first, hash, rest) : NULL;
  if (!clear || (first && *first != rest)) map_put(&u->ids, (uint64_t)id, 1);
}

static void each(struct unclear *u, const struct xplane_plane *plane, bool judging) {
  struct pb c = xplane_fields(u->r->t, plane), entry, metadata;
  struct pb_field f;
  int64_t id;
  for (uint32_t n = 1; pb_next(&c, &f);) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) continue;
    entry = pb_inside(&f);
    xplane_entry(&entry, &id, &metadata);
    uint32_t *last = map_put(&u->last, (uint64_t)id, n);
    if (last && judging && *last == n) judge(u, id, metadata);
    else if (last && !judging) *last = n;
    n++;
  }
}

static uint32_t with_id(struct tk_trace *t, uint32_t args, tk_id key, int64_t id) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  args_int(t, key, id);
  return args_end(t);
}

void xplane_mark_unclear(struct xplane_reader *r, const struct xplane_plane *plane, tk_id first) {
  struct tk_trace *t = r->t;
  struct unclear u = {.r = r};
  const struct xplane_class *from = (const struct xplane_class *)(const void *)r->classes.data;
  xplane_names_of(&u.names, xplane_fields(t, plane), &t->store->mem);
  map_init(&u.last, &t->store->mem);
  map_init(&u.first, &t->store->mem);
  map_init(&u.ids, &t->store->mem);
  each(&u, plane, false);
  each(&u, plane, true);
  for (tk_id i = first; u.ids.n && i <= t->n_events; i++) {
    const tk_id cls = t->events[i].cls;
    const bool ours = cls < r->classes.len / sizeof *from && from[cls].process == plane->process;
    const bool known = ours && !from[cls].made && !from[cls].series;
    if (!known || t->events[i].kind == TK_EVENT_COUNTER || !map_get(&u.ids, (uint64_t)from[cls].id)) continue;
    const uint32_t args = with_id(t, t->events[i].args, trace_text(t, XPLANE_METADATA_ID), from[cls].id);
    t->events[i].args = args;
  }
  map_free(&u.last);
  map_free(&u.first);
  map_free(&u.ids);
  xplane_names_free(&u.names);
}
