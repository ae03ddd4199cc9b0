/* passthrough.c - writes those fields of a plane that the graph cannot represent.
 *
 * If no operation changed the graph, they are written byte by byte. Otherwise only the parts that remain valid are written:
 *
 *     dropped    Event metadata is written for classes that have events, from the graph (class.c), and for metadata that
 *                these refer to; stat metadata, if something in the file uses it; programs, if an event belongs to them. A
 *                plane that loses all its lines is dropped as well. Stats of other planes are kept, because they state facts of
 *                the profile; so are planes that never had lines. Data that is dropped with its events does not count as lost,
 *                because it was removed on purpose
 *     renamed    Passthrough does not contain names of processes and tracks, so if events and their args have their original
 *                names, all passthrough remains valid. Otherwise metadata of classes is written from the graph; metadata that no
 *                event uses is dropped, and so are programs, which name each op again: both repeat names that the operation
 *                changed. They count as lost
 *     moved      The only block that refers to times is the plane "Task Environment" with the start of the profile, which is
 *                the base of lines, and these have been moved: all of it remains valid
 *
 * Fields of planes and of the space that are unknown to any schema may refer to anything: they are lost in all three cases. If
 * passthrough is not wanted (--no-passthrough), metadata of classes in use is kept, and no loss is counted. */
#include <string.h>

#include "passthrough.h"
#include "base/utf8.h"
#include "writer.h"
#include "class.h"

/* ---- references of events ---- */

struct program_keys {
  tk_id id, module; /* string ids; 0 = the trace lacks the string */
};

/* Records the program to which the args refer. Returns false if there is none. */
static bool refer_by_args(struct xplane_programs *to, const struct tk_trace *t, struct program_keys keys, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  tk_id module = 0;
  bool by_id = false;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == keys.id && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT)) by_id = map_put(&to->ids, arg.u, 1) != NULL;
    if (arg.key == keys.module && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF)) module = arg.s;
  }
  if (!by_id && module) map_put(&to->modules, module, 1);
  return by_id || module;
}

static void survey_events(struct xplane_graph *g, struct mem *mem) {
  const struct tk_trace *t = g->t;
  const struct program_keys keys = {xplane_find_text(t, "program_id", 10), xplane_find_text(t, "hlo_module", 10)};
  uint8_t *seen = mem_zeros(mem, (uint64_t)t->n_classes + 1, 1);
  if (!seen) return;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->args) refer_by_args(&g->programs, t, keys, e->args);
    if (seen[e->cls]) continue;
    seen[e->cls] = 1;
    map_put(&g->programs.names, t->classes[e->cls].name, 1);
    refer_by_args(&g->programs, t, keys, t->classes[e->cls].args);
  }
  mem_free(mem, seen);
}

/* True if some stat of the metadata has this text as its value. */
static bool has_text(const struct xplane_names *names, struct pb metadata, const struct intern_str *text) {
  struct pb_field f;
  struct xstat s;
  struct pb c;
  bool odd = false;
  while (pb_next(&metadata, &f)) {
    if (f.number != XEVENT_METADATA_STATS || (c = pb_inside(&f), !xplane_stat(&c, &s, &odd))) continue;
    const struct xplane_name *ref = s.field == XSTAT_REF ? xplane_name_of(names, (int64_t)s.value) : NULL;
    if (!ref && !s.p) continue;
    const struct xplane_bytes value = ref ? ref->text : (struct xplane_bytes){s.p, (size_t)s.value};
    if (value.n == text->len && (value.n == 0 || memcmp(value.p, text->bytes, value.n) == 0)) return true;
    if (!utf8_valid(value.p, value.n)) return true; /* such text was repaired when it was read */
  }
  return false;
}

/* True if the class and its args still have the names that the metadata contains. A long name is an arg, but it is the
 * metadata's own name rather than a stat. */
static bool is_as_read(const struct xplane_graph *g, tk_id cls, const struct xplane_names *names, struct pb metadata) {
  const tk_id long_name = xplane_find_text(g->t, "long_name", 9);
  struct tk_args it = tk_args_of(g->t, g->t->classes[cls].args);
  struct tk_arg arg;
  if (!xplane_bears_name(g->t, cls, metadata)) return false;
  while (tk_args_next(&it, &arg))
    if ((arg.type == TK_ARG_STR || arg.type == TK_ARG_REF) && arg.key != long_name && arg.s != KEY_EMPTY &&
        !has_text(names, metadata, trace_str(g->t, arg.s)))
      return false;
  return true;
}

static bool names_changed(const struct xplane_graph *g, const struct xplane_plane *plane, struct mem *mem) {
  struct pb c = xplane_fields(g->t, plane), entry, metadata;
  struct xplane_names names;
  struct pb_field f;
  struct map by_id;
  bool changed = false;
  int64_t id;
  xplane_names_of(&names, c, mem);
  map_init(&by_id, mem);
  xplane_classes_by_id(g, plane->process, &by_id);
  while (!changed && pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) continue;
    entry = pb_inside(&f);
    xplane_entry(&entry, &id, &metadata);
    const uint32_t *cls = map_get(&by_id, (uint64_t)id);
    changed = cls && !is_as_read(g, *cls, &names, metadata);
  }
  map_free(&by_id);
  xplane_names_free(&names);
  return changed;
}

/* True if names of classes have changed. For embedded planes, it is not known which metadata a class came from. */
static bool classes_changed(const struct tk_trace *t) {
  struct xplane_clock clock;
  return xplane_clock_of(t, &clock) && clock.names != xplane_hash_names(t);
}

void xplane_prune_init(struct xplane_graph *g, bool bare, struct mem *mem) {
  const uint8_t edits = g->planes ? g->t->edits : 0;
  map_init(&g->programs.ids, mem);
  map_init(&g->programs.modules, mem);
  map_init(&g->programs.names, mem);
  for (uint32_t i = 0; edits & TK_EDIT_RENAMED && i < g->n_planes && !g->renamed; i++)
    g->renamed = g->planes[i].process && !g->planes[i].adopted && names_changed(g, &g->planes[i], mem);
  g->renamed = g->renamed || (edits & TK_EDIT_RENAMED && g->adopted && classes_changed(g->t));
  g->bare = bare;
  g->pruned = edits & TK_EDIT_DROPPED || g->renamed || bare;
  if (g->pruned && !bare) survey_events(g, mem);
}

void xplane_prune_free(struct xplane_graph *g) {
  map_free(&g->programs.ids);
  map_free(&g->programs.modules);
  map_free(&g->programs.names);
}

static bool is_in(const struct xplane_graph *g, const struct map *strings, struct xplane_bytes text) {
  tk_id id = text.n ? xplane_find_text(g->t, text.p, text.n) : 0;
  return id && map_get(strings, id);
}

static bool is_referred_to(const struct xplane_graph *g, const struct xplane_program *p) {
  return map_get(&g->programs.ids, p->id) || is_in(g, &g->programs.modules, p->module) || is_in(g, &g->programs.names, p->name);
}

/* ---- fields ---- */

/* True if the writer generates this stat again. */
static bool is_private(const struct xplane_names *names, const struct pb_field *f) {
  static const char *const PRIVATE[] = {XPLANE_PRIVATE_TRACKS, XPLANE_PRIVATE_FLOWS, XPLANE_PRIVATE_RECORDS};
  struct pb c = pb_inside(f);
  struct xstat s;
  bool odd = false;
  const struct xplane_name *name = xplane_stat(&c, &s, &odd) ? xplane_name_of(names, s.id) : NULL;
  for (size_t i = 0; i < sizeof PRIVATE / sizeof *PRIVATE; i++)
    if (xplane_name_is(name, PRIVATE[i])) return true;
  return false;
}

/* Writes the start of the profile again, if the times in the file are relative to another time. Returns false if there is
 * nothing to write. */
static bool put_start(struct xplane_encoder *e, const struct xplane_names *names, const struct pb_field *f, struct buf *b) {
  struct pb c = pb_inside(f);
  struct buf stat = {.mem = e->mem};
  struct xstat s;
  bool odd = false;
  if (!e->g->restarted || f->number != XPLANE_STATS || !xplane_stat(&c, &s, &odd)) return false;
  if (!xplane_name_is(xplane_name_of(names, s.id), XPLANE_START) || (s.field != XSTAT_UINT64 && s.field != XSTAT_INT64)) return false;
  if (strcmp(tk_string(e->g->t, e->was->name, NULL), XPLANE_TASK) != 0) return false;
  pb_i64(&stat, XSTAT_METADATA_ID, s.id);
  pb_i64(&stat, s.field, e->g->base_ns);
  pb_message(b, XPLANE_STATS, &stat);
  buf_free(&stat);
  return true;
}

static void put_program(struct xplane_encoder *e, int64_t id, struct pb metadata) {
  struct xplane_bytes entry = xplane_unwritten_class(e, id);
  struct pb_field f;
  if (entry.p) buf_append(&e->new_classes, entry.p, entry.n);
  while (entry.p && pb_next(&metadata, &f))
    if (f.number == XEVENT_METADATA_STATS) xplane_use_stat(e, pb_inside(&f));
}

/* Handles event metadata that is not in use: keeps the programs to which events belong, and drops everything else. */
static void put_unused(struct xplane_encoder *e, const struct xplane_names *names, const struct pb_field *f) {
  if (e->g->bare) return;
  struct pb c = pb_inside(f), metadata;
  struct xplane_program program;
  int64_t id;
  xplane_entry(&c, &id, &metadata);
  if (!e->g->renamed) {
    if (xplane_program_of(&program, names, f) && is_referred_to(e->g, &program)) put_program(e, id, metadata);
  } else if (!(e->g->t->edits & TK_EDIT_DROPPED)) {
    e->lost += xplane_unwritten_class(e, id).p != NULL;
  } else {
    e->lost += xplane_program_of(&program, names, f) && is_referred_to(e->g, &program);
  }
}

static bool is_bytes(const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct xstat s;
  bool odd = false;
  return xplane_stat(&c, &s, &odd) && (s.field == XSTAT_BYTES || s.field == XSTAT_COMPRESSED_STR);
}

static void put_pruned(struct xplane_encoder *e, const struct xplane_names *names, struct buf *b) {
  struct pb c = xplane_fields(e->g->t, e->was);
  struct pb_field f;
  xplane_put_children(e); /* before the plane's own stats, which do not show which args events have */
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    if (f.number == XPLANE_EVENT_METADATA) put_unused(e, names, &f);
    if (f.number > XPLANE_STATS && !e->g->bare) e->lost++;
    if (f.number != XPLANE_STATS || (e->g->converted && is_private(names, &f)) || (e->g->bare && is_bytes(&f))) continue;
    if (put_start(e, names, &f, b)) continue;
    xplane_use_stat(e, pb_inside(&f));
    buf_append(b, from, (size_t)(c.p - from));
  }
}

static void put_all(struct xplane_encoder *e, const struct xplane_names *names, struct buf *b) {
  struct pb c = xplane_fields(e->g->t, e->was);
  struct pb_field f;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    const bool unknown = f.number > XPLANE_STATS && e->g->t->edits;
    e->lost += unknown;
    if (unknown || f.number == XPLANE_ID || f.number == XPLANE_NAME || f.number == XPLANE_LINES) continue;
    if (e->g->converted && f.number == XPLANE_STATS && is_private(names, &f)) continue;
    if (put_start(e, names, &f, b)) continue;
    buf_append(b, from, (size_t)(c.p - from));
  }
}

void xplane_put_passthrough(struct xplane_encoder *e, struct buf *plane) {
  struct xplane_names names;
  xplane_names_of(&names, xplane_fields(e->g->t, e->was), e->mem);
  if (e->g->pruned) put_pruned(e, &names, plane);
  else put_all(e, &names, plane);
  xplane_names_free(&names);
}
