/* fragment.c - see fragment.h. */
#include "fragment.h"

#include "args.h"
#include "copy.h"

#include <string.h>

static uint32_t now(const struct fragment_ids *ids, uint32_t id) { return id <= ids->known ? id : ids->now[id - ids->known - 1]; }

static bool add(struct mem *mem, struct fragment_ids *ids, uint32_t id) {
  if (!mem_grow(mem, (void **)&ids->now, &ids->cap, (uint64_t)ids->n + 1, sizeof *ids->now)) return false;
  ids->now[ids->n++] = id;
  return id != 0;
}

/* ---- beginning ---- */

static void empty(struct tk_trace *t) {
  t->n_events = t->n_flow_points = t->n_notes = 0;
  t->store->pool.len = 1;
  t->store->n_foreign = 0;
  t->store->has_foreign = false;
  t->counts = (struct tk_counts){0};
}

bool fragment_init(struct fragment *f, const struct mem *whole, uint64_t max_memory) {
  *f = (struct fragment){.t = trace_new(max_memory)};
  if (!f->t) return false;
  f->t->store->mem.whole = whole->whole;
  f->t->store->mem.process = whole->process;
  return true;
}

void fragment_free(struct fragment *f) {
  struct fragment_ids *ids[] = {&f->strings, &f->classes, &f->tracks, &f->shapes};
  if (!f->t) return;
  for (unsigned i = 0; i < 4; i++) mem_free(&f->t->store->mem, ids[i]->now);
  tk_free(f->t);
  f->t = NULL;
}

/* Copies an array, and leaves room for a quarter more. */
static bool copy_part(struct mem *mem, void **to, uint32_t *cap, const void *from, uint32_t n, size_t elem) {
  return mem_grow(mem, to, cap, (uint64_t)n + n / 4 + 64, elem) && copy_array(mem, to, cap, from, n, elem);
}

/* Copies only the pointers to strings: the bytes of strings never move. */
static bool copy_strings(struct intern *to, const struct intern *from) {
  arena_free(&to->arena);
  if (!copy_part(to->mem, (void **)&to->strs, &to->cap, from->strs, from->n, sizeof *from->strs)) return false;
  to->n = from->n;
  return copy_slots(to->mem, (void **)&to->slots, &to->mask, from->slots, from->mask, sizeof *from->slots);
}

bool fragment_begin(struct fragment *f, const struct tk_trace *of) {
  struct tk_trace *t = f->t;
  struct tk_store *s = t->store;
  struct mem *mem = &s->mem;
  struct tk_arg_shape *const no_shapes[1] = {NULL};
  const bool ok = copy_strings(&s->strings, &of->store->strings) &&
                  copy_part(mem, (void **)&t->classes, &s->cap_classes, of->classes, of->n_classes, sizeof *t->classes) &&
                  copy_part(mem, (void **)&t->tracks, &s->cap_tracks, of->tracks, of->n_tracks, sizeof *t->tracks) &&
                  copy_part(mem, (void **)&s->shapes, &s->cap_shapes, of->store->n_shapes ? of->store->shapes : no_shapes,
                             of->store->n_shapes, sizeof *s->shapes) &&
                  copy_map(&s->class_index, &of->store->class_index) && copy_map(&s->track_index, &of->store->track_index) &&
                  copy_map(&s->shape_index, &of->store->shape_index);
  if (!ok) return false;
  empty(t);
  t->n_classes = of->n_classes;
  t->n_tracks = of->n_tracks;
  s->n_shapes = of->store->n_shapes;
  s->without = of->store->without;
  f->strings.known = s->known_strings = of->store->strings.n;
  f->classes.known = of->n_classes;
  f->tracks.known = of->n_tracks;
  f->shapes.known = s->known_shapes = of->store->n_shapes;
  f->strings.n = f->classes.n = f->tracks.n = f->shapes.n = 0;
  return true;
}

bool fragment_is_outgrown(const struct fragment *f, const struct tk_trace *of) {
  const uint32_t strings = of->store->strings.n, shapes = of->store->n_shapes;
  return strings - f->strings.known > f->strings.known / 4 + 64 || shapes - f->shapes.known > f->shapes.known / 4 + 4;
}

uint64_t fragment_cost(const struct tk_trace *of) {
  const struct tk_store *s = of->store;
  return (uint64_t)s->strings.n * sizeof *s->strings.strs + ((uint64_t)s->strings.mask + 1) * sizeof *s->strings.slots +
         (uint64_t)of->n_classes * sizeof *of->classes + (uint64_t)of->n_tracks * sizeof *of->tracks +
         (uint64_t)s->n_shapes * sizeof *s->shapes +
         ((uint64_t)s->class_index.mask + s->track_index.mask + s->shape_index.mask + 3) * sizeof(struct map_slot);
}

/* ---- tracks that exist in both ---- */

/* Finds the id in `to` of a string of the fragment that has not been joined yet; false if `to` lacks the string. */
static bool find_string(const struct fragment *f, const struct tk_trace *to, tk_id *id) {
  const struct intern_str *s = &f->t->store->strings.strs[*id];
  if (*id == 0) return true;
  if (*id <= f->strings.known + f->strings.n) *id = now(&f->strings, *id);
  else *id = intern_find(&to->store->strings, s->bytes, s->len, s->hash);
  return *id != 0;
}

static bool same_ident(struct tk_ident a, struct tk_ident b) { return a.num == b.num && a.str == b.str && a.kind == b.kind; }

/* True if the trace has the track, but spells its ids differently ("7" instead of 7). The fragment stored the spelling of its
 * events relative to its own track, so these spellings would be wrong in the trace. */
static bool is_misspelled(const struct fragment *f, const struct tk_trace *to, struct tk_track k) {
  if (!find_string(f, to, &k.pid.str) || !find_string(f, to, &k.tid.str) || !find_string(f, to, &k.name)) return false;
  const tk_id id = trace_find(to, &k);
  return id && !(same_ident(to->tracks[id].pid, k.pid) && same_ident(to->tracks[id].tid, k.tid));
}

static bool any_is_misspelled(const struct fragment *f, const struct tk_trace *to) {
  for (tk_id i = f->tracks.known + f->tracks.n + 1; i <= f->t->n_tracks; i++)
    if (is_misspelled(f, to, f->t->tracks[i])) return true;
  return false;
}

/* ---- new ids ---- */

static bool join_strings(struct fragment *f, struct tk_trace *to) {
  const struct intern *own = &f->t->store->strings;
  for (uint32_t i = f->strings.known + f->strings.n + 1; i <= own->n; i++) {
    const struct intern_str *s = &own->strs[i];
    if (!add(&f->t->store->mem, &f->strings, intern_add(&to->store->strings, s->bytes, s->len, s->hash))) return false;
  }
  return true;
}

static bool join_shapes(struct fragment *f, struct tk_trace *to) {
  struct tk_store *s = f->t->store;
  for (uint32_t i = f->shapes.known + f->shapes.n + 1; i <= s->n_shapes; i++) {
    const struct tk_arg_shape *shape = s->shapes[i];
    struct shape_field *fields = args_fields(to, shape->n);
    for (uint32_t k = 0; fields && k < shape->n; k++)
      fields[k] = (struct shape_field){now(&f->strings, shape->fields[k].key), shape->fields[k].type};
    if (!add(&s->mem, &f->shapes, fields ? args_shape(to) : 0)) return false;
  }
  return true;
}

static bool join_classes(struct fragment *f, struct tk_trace *to) {
  for (tk_id i = f->classes.known + f->classes.n + 1; i <= f->t->n_classes; i++) {
    const struct tk_class *c = &f->t->classes[i];
    const tk_id id = trace_class(to, now(&f->strings, c->name), now(&f->strings, c->cat));
    if (!add(&f->t->store->mem, &f->classes, id)) return false;
  }
  return true;
}

static struct tk_ident ident_now(const struct fragment *f, struct tk_ident i) {
  i.str = now(&f->strings, i.str);
  return i;
}

static struct tk_track track_now(const struct fragment *f, tk_id i) {
  struct tk_track k = f->t->tracks[i];
  k.pid = ident_now(f, k.pid);
  k.tid = ident_now(f, k.tid);
  k.name = now(&f->strings, k.name);
  return k;
}

/* Adds the fragment's new tracks to the trace. Parents precede their children. */
static bool join_tracks(struct fragment *f, struct tk_trace *to) {
  for (tk_id i = f->tracks.known + f->tracks.n + 1; i <= f->t->n_tracks; i++) {
    struct tk_track k = track_now(f, i);
    k.parent = now(&f->tracks, k.parent);
    if (!add(&f->t->store->mem, &f->tracks, trace_find_or_add(to, &k))) return false;
  }
  return true;
}

/* ---- args ---- */

/* True for types whose value is a string id. Refs are excluded: they still contain the numbers that the reader stored. */
static bool is_string(uint8_t type) { return type >= TK_ARG_STR && type < TK_ARG_REF; }

/* Copies the record at p to *q with the ids of the trace, and returns the end of the record. */
static const uint8_t *repack(const struct fragment *f, const uint8_t *p, uint8_t **q) {
  uint64_t shape, v;
  p = varint_get(p, &shape);
  const struct tk_arg_shape *s = f->t->store->shapes[shape];
  *q = varint_put(*q, now(&f->shapes, (uint32_t)shape));
  for (uint32_t i = 0; i < s->n; i++) {
    const uint8_t type = s->fields[i].type, *from = p;
    if (type <= TK_ARG_TRUE) continue;
    p = type == TK_ARG_DOUBLE ? p + 8 : varint_get(p, &v);
    p += type == TK_ARG_DECIMAL;
    if (is_string(type)) {
      *q = varint_put(*q, now(&f->strings, (uint32_t)v));
    } else {
      memcpy(*q, from, (size_t)(p - from));
      *q += p - from;
    }
  }
  return p;
}

/* Returns the largest number of bytes that repacking can add: the varint of a 32-bit id takes one to five bytes. */
static uint64_t most_growth(const struct fragment *f) {
  const struct tk_store *s = f->t->store;
  uint64_t n = 0, shape;
  for (uint32_t i = 0; i < s->n_foreign; i++) {
    varint_get(s->pool.data + s->foreign[i].at, &shape);
    n += 4 * ((uint64_t)s->shapes[shape]->n + 1);
  }
  return n;
}

/* Returns the largest number of bytes that the fragment's pool can take in the pool of `to`. */
static uint64_t most_pool(const struct fragment *f) { return f->t->store->pool.len + most_growth(f) + 16; }

/* Appends the arg pool to the pool of `to`: its foreign records, and room for the others. Each foreign record stores where it ends
 * and how far the records after it move. */
static bool join_pool(struct fragment *f, struct tk_trace *to) {
  struct tk_store *s = f->t->store;
  struct buf *pool = &to->store->pool;
  const uint64_t most = most_pool(f);
  const uint8_t *p = s->pool.data + 1, *const end = s->pool.data + s->pool.len;
  if (pool->len + most > UINT32_MAX) to->store->mem.failed = true;
  uint8_t *q = to->store->mem.failed ? NULL : buf_reserve(pool, (size_t)most);
  if (!q) return false;
  for (uint32_t i = 0; i < s->n_foreign; i++) {
    struct foreign_args *foreign = &s->foreign[i];
    q += s->pool.data + foreign->at - p;
    p = repack(f, s->pool.data + foreign->at, &q);
    foreign->end = (uint32_t)(p - s->pool.data);
    foreign->behind = (uint32_t)((q - pool->data) - (p - s->pool.data));
  }
  pool->len = (size_t)(q + (end - p) - pool->data);
  return true;
}

/* Copies the records between the foreign ones. */
static void place_pool(const struct fragment *f) {
  const struct tk_store *s = f->t->store;
  uint32_t from = 1, behind = f->place.args;
  for (uint32_t i = 0; i < s->n_foreign; i++) {
    memcpy(f->place.pool + (uint32_t)(from + behind), s->pool.data + from, s->foreign[i].at - from);
    from = s->foreign[i].end;
    behind = s->foreign[i].behind;
  }
  memcpy(f->place.pool + (uint32_t)(from + behind), s->pool.data + from, s->pool.len - from);
}

/* Maps old positions of args to new ones. Events refer to args in pool order, so the next foreign record is near the previous
 * one. */
struct mover {
  const struct tk_store *s;
  uint32_t first; /* displacement of args before the first foreign record */
  uint32_t n;     /* number of foreign records before the position that was mapped last */
};

static uint32_t moved(struct mover *m, uint32_t args) {
  if (!args) return 0;
  while (m->n > 0 && m->s->foreign[m->n - 1].at >= args) m->n--;
  while (m->n < m->s->n_foreign && m->s->foreign[m->n].at < args) m->n++;
  return args + (m->n ? m->s->foreign[m->n - 1].behind : m->first);
}

/* ---- events ---- */

static void place_events(const struct fragment *f, struct mover m) {
  const struct tk_event *from = f->t->events + 1;
  struct tk_event *e = f->place.events;
  for (tk_id i = 0; i < f->t->n_events; i++) {
    e[i] = from[i];
    e[i].cls = now(&f->classes, from[i].cls);
    e[i].track = now(&f->tracks, from[i].track);
    e[i].args = moved(&m, from[i].args);
  }
}

static void place_points(const struct fragment *f, struct mover m) {
  const struct tk_flow_point *from = f->t->flow_points + 1;
  struct tk_flow_point *p = f->place.points;
  for (tk_id i = 0; i < f->t->n_flow_points; i++) {
    p[i] = from[i];
    p[i].cls = now(&f->classes, from[i].cls);
    p[i].at = from[i].bound ? f->place.before + from[i].at : now(&f->tracks, from[i].at);
    p[i].args = moved(&m, from[i].args);
    if (from[i].id_kind == TK_FLOW_ID_STR) p[i].id = now(&f->strings, (uint32_t)from[i].id);
  }
}

static void join_counts(struct tk_counts *to, const struct tk_counts *from) {
  to->read += from->read;
  for (unsigned i = 0; i < sizeof to->by_phase / sizeof *to->by_phase; i++) to->by_phase[i] += from->by_phase[i];
  to->empty += from->empty;
  to->dropped += from->dropped;
  to->rounded += from->rounded;
  to->by_template += from->by_template;
}

static bool make_room(const struct fragment *f, struct tk_trace *to) {
  struct tk_store *s = to->store;
  const uint64_t events = (uint64_t)to->n_events + f->t->n_events + 1, points = (uint64_t)to->n_flow_points + f->t->n_flow_points + 1;
  return mem_grow(&s->mem, (void **)&to->events, &s->cap_events, events, sizeof *to->events) &&
         mem_grow(&s->mem, (void **)&to->flow_points, &s->cap_flow_points, points, sizeof *to->flow_points);
}

bool fragment_fits(const struct fragment *f, const struct tk_trace *to) {
  const struct tk_store *s = to->store;
  const uint64_t events = (uint64_t)to->n_events + f->t->n_events, points = (uint64_t)to->n_flow_points + f->t->n_flow_points;
  return events < s->cap_events && points < s->cap_flow_points && s->pool.len + most_pool(f) <= s->pool.cap;
}

bool fragment_join(struct fragment *f, struct tk_trace *to) {
  struct tk_trace *t = f->t;
  if (t->store->mem.failed || any_is_misspelled(f, to)) return false;
  if (!join_strings(f, to) || !join_tracks(f, to) || !join_shapes(f, to) || !join_classes(f, to) || !make_room(f, to)) return false;
  const uint32_t args = (uint32_t)to->store->pool.len - 1;
  if (!join_pool(f, to)) return false;
  f->place = (struct fragment_place){.events = to->events + to->n_events + 1, .points = to->flow_points + to->n_flow_points + 1,
                                     .pool = to->store->pool.data, .args = args, .before = to->n_events};
  to->n_events += t->n_events;
  to->n_flow_points += t->n_flow_points;
  to->store->left_points |= t->store->left_points;
  join_counts(&to->counts, &t->counts);
  trace_copy_notes(to, t, NULL);
  return true;
}

void fragment_place(struct fragment *f) {
  const struct mover m = {.s = f->t->store, .first = f->place.args};
  place_pool(f);
  place_points(f, m);
  place_events(f, m);
  empty(f->t);
}
