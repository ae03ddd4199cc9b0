/* adopt.c - converts a block that another format embedded (write/carried.c) to passthrough data of the graph.
 *
 * Afterwards the graph has the same side tables as a graph that was read from XPlane: its processes correspond to planes and its
 * threads to lines, and planes and lines have the contents of the block. So operations, joins and the writer need no code for blocks.
 * Each plane is marked (struct xplane_plane, adopted) because of two differences: it is unknown which event metadata a class came from,
 * and args have the types of the other format. */
#include <string.h>

#include "adopt.h"
#include "format/pb_out.h"
#include "format/xplane/private.h"
#include "format/xplane/passthrough.h"
#include "format/xplane/xplane.h"

struct adopter {
  struct tk_trace *t;
  struct map processes; /* hash of pid and name, or of the name alone -> track */
  struct map threads;   /* hash of process and tid -> track */
  struct map taken;     /* processes that already correspond to planes */
  struct buf planes, lines, space;
  uint32_t segment; /* for files joined by cat: number of the file */
  bool segment_ends;
  struct xplane_clock clock;
  bool is_whole; /* true if every plane and line of the original graph has been found */
  struct xplane_plane *plane; /* the current plane */
  uint32_t lines_of_plane;    /* number of its lines */
};

/* ---- processes and threads ---- */

static uint64_t adopt_hash_of(uint64_t scope, struct tk_ident i, tk_id name) {
  const uint64_t id = i.kind == TK_IDENT_STR ? (uint64_t)i.str << 32 : (uint64_t)i.num * 3 + (i.kind != TK_IDENT_NONE);
  return hash_pair(hash_pair(scope, id), name);
}

enum { BY_NAME = 1, BY_PID };

static void know_tracks(struct adopter *a) {
  const struct tk_trace *t = a->t;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind == TK_TRACK_PROCESS) {
      map_put(&a->processes, adopt_hash_of(BY_PID, k->pid, k->name), i);
      if (k->name) map_put(&a->processes, adopt_hash_of(BY_NAME, ident_none(), k->name), i);
    } else if (k->kind == TK_TRACK_THREAD || k->kind == TK_TRACK_ASYNCS) {
      map_put(&a->threads, adopt_hash_of((uint64_t)k->parent << 3 | k->kind, k->tid, 0), i);
    }
  }
}

/* Returns a process with this name that does not correspond to a plane yet. */
static tk_id free_process(const struct adopter *a, uint64_t hash, tk_id name) {
  const uint32_t *track = map_get(&a->processes, hash);
  return track && a->t->tracks[*track].name == name && !map_get(&a->taken, *track) ? *track : 0;
}

static tk_id take_process(struct adopter *a, struct tk_ident pid, tk_id name) {
  tk_id track = free_process(a, adopt_hash_of(BY_PID, pid, name), name);
  if (track && !trace_ident_equal(a->t->tracks[track].pid, pid)) track = 0;
  if (!track && name) track = free_process(a, adopt_hash_of(BY_NAME, ident_none(), name), name);
  if (track) map_put(&a->taken, track, 1);
  return track;
}

static tk_id thread_of(const struct adopter *a, enum tk_track_kind kind, struct tk_ident tid) {
  const uint32_t *slot = map_get(&a->threads, adopt_hash_of((uint64_t)a->plane->process << 3 | kind, tid, 0));
  return slot && trace_ident_equal(a->t->tracks[*slot].tid, tid) ? *slot : 0;
}

/* ---- lines ---- */

static tk_id adopt_text_of(struct tk_trace *t, const struct pb_field *f) {
  bool repaired;
  return intern_text(&t->store->strings, f->p, (size_t)f->value, true, &repaired);
}

/* Parses a line. Its unknown fields are after the known ones. */
static bool read_line(const struct pb_field *f, struct tk_trace *t, struct xplane_line *line) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
      case PB_KEY(XLINE_ID, PB_VARINT): line->id = (int64_t)g.value; break;
      case PB_KEY(XLINE_NAME, PB_BYTES): line->name = adopt_text_of(t, &g); break;
      case PB_KEY(XLINE_TIMESTAMP_NS, PB_VARINT): line->timestamp_ns = (int64_t)g.value; break;
      case PB_KEY(XLINE_DURATION_PS, PB_VARINT): line->duration_ps = (int64_t)g.value; break;
      case PB_KEY(XLINE_DISPLAY_ID, PB_VARINT): line->display_id = (int64_t)g.value; break;
      case PB_KEY(XLINE_DISPLAY_NAME, PB_BYTES): line->display_name = adopt_text_of(t, &g); break;
      default:
        if (!line->fields_size) line->fields_at = (uint64_t)(from - (const uint8_t *)trace_raw(t, 0));
        line->fields_size = (uint32_t)(c.end - (const uint8_t *)trace_raw(t, line->fields_at));
    }
  }
  return !c.fault;
}

/* Returns the graph time to which the line's offsets are relative: its timestamp, unless the block states another one. */
static int64_t zero_of(const struct adopter *a, const struct xplane_line *line, const struct xplane_object *o) {
  i128 zero = ((i128)line->timestamp_ns + a->clock.base_ns) * 1000;
  int64_t ns, ps;
  if (xplane_object_int(o, "zero_ns", &ns) && xplane_object_int(o, "zero_ps", &ps)) zero = (i128)ns * 1000 + ps;
  zero -= (i128)a->clock.origin_ns * 1000;
  return zero > INT64_MAX ? INT64_MAX : zero < INT64_MIN ? INT64_MIN : (int64_t)zero;
}

static void adopt_line(const struct xplane_object *o) {
  static const struct {
    const char *word;
    uint8_t kind, track;
  } KINDS[] = {{"thread", XLINE_THREAD, TK_TRACK_THREAD}, {"async", XLINE_ASYNC, TK_TRACK_ASYNCS}, {"counters", XLINE_COUNTERS,
      TK_TRACK_THREAD}};
  struct adopter *a = o->arg;
  const char *word = tk_string(a->t, xplane_object_text(o, "kind"), NULL);
  struct xplane_line *lines = (struct xplane_line *)(void *)a->lines.data, *line;
  int64_t ordinal;
  if (!xplane_object_int(o, "line", &ordinal) || ordinal < 1 || ordinal > a->lines_of_plane) return;
  line = &lines[a->plane->first_line + ordinal - 1];
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
    if (strcmp(KINDS[i].word, word) != 0) continue;
    line->kind = KINDS[i].kind;
    line->track = thread_of(a, (enum tk_track_kind)KINDS[i].track, xplane_object_ident(o, "tid"));
  }
  line->zero_ps = zero_of(a, line, o);
  line->shown = a->t->tracks[line->track].name;
}

/* ---- planes ---- */

static bool is_private(const struct xplane_names *names, const struct xstat *s, const char *name) {
  return xplane_name_is(xplane_name_of(names, s->id), name);
}

/* Parses the number i in a name such as "tracekit.tracks.<i>". */
static bool is_of_plane(const struct xplane_name *name, const char *prefix, uint64_t *i) {
  const size_t n = strlen(prefix);
  i128 value;
  if (!name || name->text.n <= n || memcmp(name->text.p, prefix, n) != 0) return false;
  if (!num_scaled(name->text.p + n, name->text.p + name->text.n, 0, &value) || value < 0 || value > UINT32_MAX) return false;
  *i = (uint64_t)value;
  return true;
}

static void adopt_plane(struct adopter *a, const struct xstat *tracks) {
  struct buf text = {.mem = &a->t->store->mem};
  if (xplane_strict_json(tracks->p, (size_t)tracks->value, &text)) {
    struct xplane_object o;
    struct json_value lines;
    xplane_object_scan(&o, a->t, text.data, text.len, a);
    a->plane->process = take_process(a, xplane_object_ident(&o, "pid"), xplane_object_text(&o, "name"));
    if (a->plane->process && xplane_object_member(&o, "lines", &lines)) xplane_each_object(a->t, &lines, a, adopt_line);
  }
  a->plane->shown = a->t->tracks[a->plane->process].name;
  a->is_whole = a->is_whole && a->plane->process;
  buf_free(&text);
}

/* Reads the block's description of its planes. May add strings to the graph, but nothing to its raw text, because the block is
 * in this text. */
static void read_private(struct adopter *a, struct pb plane) {
  struct xplane_plane *planes = (struct xplane_plane *)(void *)a->planes.data;
  const uint8_t *raw = (const uint8_t *)trace_raw(a->t, 0);
  const uint64_t n = a->planes.len / sizeof *planes;
  struct xplane_names names;
  struct pb_field f;
  struct xstat s;
  bool odd = false;
  uint64_t i;
  xplane_names_of(&names, plane, &a->t->store->mem);
  while (pb_next(&plane, &f)) {
    struct pb c = pb_inside(&f);
    if (f.number != XPLANE_STATS || !xplane_stat(&c, &s, &odd)) continue;
    if (is_private(&names, &s, XPLANE_PRIVATE_ZERO)) a->clock.zero_ns = (int64_t)s.value;
    if (is_private(&names, &s, XPLANE_CARRIED_SHOWN)) a->clock.shown = s.value;
    if (!s.p) continue;
    if (is_of_plane(xplane_name_of(&names, s.id), XPLANE_CARRIED_TRACKS, &i) && i < n) {
      a->plane = &planes[i];
      a->lines_of_plane = a->plane->lines;
      a->plane->tracks_at = (uint64_t)(s.p - raw);
      a->plane->tracks_size = (uint32_t)s.value;
      adopt_plane(a, &s);
    } else if (is_of_plane(xplane_name_of(&names, s.id), XPLANE_CARRIED_TYPES, &i) && i < n) {
      planes[i].types_at = (uint64_t)(s.p - raw);
      planes[i].types_size = (uint32_t)s.value;
    }
  }
  xplane_names_free(&names);
}

static bool add_plane(struct adopter *a, struct pb c) {
  struct xplane_plane plane = {.adopted = true, .segment = a->segment};
  struct pb_field f;
  plane.first_line = (uint32_t)(a->lines.len / sizeof(struct xplane_line));
  plane.at = (uint64_t)(c.p - (const uint8_t *)trace_raw(a->t, 0));
  plane.size = (uint64_t)(c.end - c.p);
  while (pb_next(&c, &f)) {
    struct xplane_line line = {.ordinal = plane.lines + 1};
    switch (pb_field_key(&f)) {
      case PB_KEY(XPLANE_ID, PB_VARINT): plane.id = (int64_t)f.value; break;
      case PB_KEY(XPLANE_NAME, PB_BYTES): plane.name = adopt_text_of(a->t, &f); break;
      case PB_KEY(XPLANE_LINES, PB_BYTES):
        if (!read_line(&f, a->t, &line)) return false;
        plane.lines++;
        plane.line_bytes += f.value;
        buf_append(&a->lines, &line, sizeof line);
        break;
      default: break;
    }
  }
  return !c.fault && buf_append(&a->planes, &plane, sizeof plane);
}

/* ---- the block ---- */

static bool find_base(struct adopter *a, struct pb plane, bool *found) {
  const uint8_t *raw = (const uint8_t *)trace_raw(a->t, 0);
  const struct xplane_plane p = {.at = (uint64_t)(plane.p - raw), .size = (uint64_t)(plane.end - plane.p)};
  *found = xplane_plane_int(a->t, &p, XPLANE_PRIVATE_BASE, &a->clock.base_ns);
  return *found;
}

static bool is_called(struct pb plane, const char *name) {
  struct pb_field f, last = {0};
  while (pb_next(&plane, &f))
    if (pb_field_key(&f) == PB_KEY(XPLANE_NAME, PB_BYTES)) last = f;
  return last.p && xplane_bytes_are(xplane_bytes_of(&last), name);
}

/* Reads all planes except our private one. *ours becomes a cursor over the private plane, which is read later. */
static bool read_planes(struct adopter *a, struct pb c, struct pb *ours) {
  struct pb_field f;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    if (pb_field_key(&f) != PB_KEY(XSPACE_PLANES, PB_BYTES)) {
      if (!a->segment_ends) pb_u64(&a->space, XPLANE_SEGMENT, a->segment);
      a->segment_ends = true;
      buf_append(&a->space, from, (size_t)(c.p - from));
    } else if (is_called(pb_inside(&f), XPLANE_PRIVATE_PLANE)) {
      *ours = pb_inside(&f);
    } else {
      a->segment += a->segment_ends;
      a->segment_ends = false;
      if (!add_plane(a, pb_inside(&f))) return false;
    }
  }
  return !c.fault;
}

/* Reads the planes of all pieces first, then their description in our own plane. */
static bool read_blocks(struct adopter *a) {
  const struct tk_trace *t = a->t;
  struct pb ours = {0};
  bool ok = true, found = false;
  for (tk_id i = 1; ok && i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (carry_is_block(t, m) && strcmp(m->origin, XPLANE_FORMAT) == 0)
      ok = read_planes(a, pb_over(trace_raw(t, m->at), (size_t)m->size), &ours);
  }
  if (!ok || !ours.p || !find_base(a, ours, &found)) return false;
  read_private(a, ours);
  return true;
}

/* Drops lines whose thread no longer exists, because other software removed the thread from the file. */
static void drop_lost_lines(struct adopter *a) {
  struct xplane_plane *planes = (struct xplane_plane *)(void *)a->planes.data;
  struct xplane_line *lines = (struct xplane_line *)(void *)a->lines.data;
  uint32_t n = 0;
  for (size_t i = 0; i < a->planes.len / sizeof *planes; i++) {
    const uint32_t first = planes[i].first_line;
    planes[i].first_line = n;
    for (uint32_t k = first; k < first + planes[i].lines; k++) {
      lines[k].process = planes[i].process;
      if (lines[k].track) lines[n++] = lines[k];
      else a->is_whole = a->is_whole && !planes[i].process;
    }
    planes[i].lines = planes[i].process ? n - planes[i].first_line : 0;
  }
  a->lines.len = n * sizeof *lines;
}

static void add_tables(struct adopter *a) {
  struct tk_trace *t = a->t;
  a->clock.converted = XPLANE_CONVERTED_PARTLY;
  a->clock.names = xplane_hash_names(t);
  if (!a->is_whole) a->clock.shown = 0;
  xplane_add_meta(t, XPLANE_META_SPACE, a->space.data, a->space.len, true);
  xplane_add_meta(t, XPLANE_META_CLOCK, &a->clock, sizeof a->clock, true);
  xplane_add_meta(t, XPLANE_META_PLANES, a->planes.data, a->planes.len, true);
  xplane_add_meta(t, XPLANE_META_LINES, a->lines.data, a->lines.len, true);
}

bool xplane_adopt(struct tk_trace *t) {
  struct mem *mem = &t->store->mem;
  struct adopter a = {.t = t, .planes = {.mem = mem}, .lines = {.mem = mem}, .space = {.mem = mem}, .is_whole = true};
  struct xplane_clock known;
  bool ok = !xplane_clock_of(t, &known);
  a.clock.origin_ns = t->origin_ns;
  map_init(&a.processes, mem);
  map_init(&a.threads, mem);
  map_init(&a.taken, mem);
  know_tracks(&a);
  ok = ok && read_blocks(&a);
  if (ok) drop_lost_lines(&a);
  if (ok) add_tables(&a);
  map_free(&a.processes);
  map_free(&a.threads);
  map_free(&a.taken);
  buf_free(&a.planes);
  buf_free(&a.lines);
  buf_free(&a.space);
  return ok;
}
