/* read.c - reads an XSpace into a graph, in one pass over the bytes. In a file, names come after the events that use them; see
 * reader.h.
 *
 *     XSpace    errors, warnings, hostnames           passthrough
 *       XPlane  -> process track                      its fields except the lines are passthrough: metadata, stats, HLO protos
 *         XLine -> thread track                       id, display_id, timestamp and duration in a side table
 *
 * If a message is damaged, only this message is lost. If damage hides the length of a message, reading continues at the next
 * position that looks like a message (salvage.h). A truncated file is read up to its end. */
#include <string.h>

#include "read.h"
#include "line.h"
#include "format/pb_out.h"
#include "reader.h"
#include "names.h"
#include "finish.h"
#include "chunks.h"
#include "alike.h"
#include "format/xplane/xplane.h"

/* ---- planes ---- */

static void forget_plane(struct xplane_reader *r) {
  struct mem *mem = &r->t->store->mem;
  if (r->n_stats == 0 && r->class_ids.n == 0) return; /* for speed: files with a million empty planes exist */
  map_free(&r->class_ids);
  map_free(&r->stat_ids);
  map_init(&r->class_ids, mem);
  map_init(&r->stat_ids, mem);
  r->n_stats = 0;
  memset(r->class_cache, 0, sizeof r->class_cache);
  memset(r->stat_cache, 0, sizeof r->stat_cache);
  xplane_forget_alike(r);
  /* Discards the index, because the plane's shapes were indexed by provisional keys. */
  map_free(&r->t->store->shape_index);
  map_init(&r->t->store->shape_index, mem);
}

/* Checks the fields of a message, including the stats of metadata; bytes may have any content. Returns a description of the
 * error, or NULL. */
static const char *fault_of(const struct pb_field *f, unsigned depth) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (pb_next(&c, &g)) {
    const bool inner = g.wire == PB_BYTES && (depth == 2 ? g.number == MAP_VALUE : depth == 1 && g.number == XEVENT_METADATA_STATS);
    const char *fault = inner ? fault_of(&g, depth - 1) : NULL;
    if (fault) return fault;
  }
  return c.fault;
}

/* False if the field is damaged. Damaged map entries are not kept, because our output would be damaged as well. */
static bool is_sound(struct xplane_reader *r, const struct pb_field *f) {
  const bool entry = f->number == XPLANE_EVENT_METADATA || f->number == XPLANE_STAT_METADATA;
  const char *fault = entry || f->number == XPLANE_STATS ? fault_of(f, entry ? 2 : 0) : NULL;
  if (fault) xplane_note_damage(r, pb_in_offset(&r->s) - f->value, entry ? "metadata" : "stat", fault);
  return !fault;
}

/* Stores a field that is not a line as passthrough data; it is interpreted at the end of the plane. */
static enum pb_status plane_field(struct xplane_reader *r, struct xplane_plane *plane, struct pb_field *f) {
  enum pb_status status = PB_FIELD;
  if (f->wire == PB_BYTES) status = pb_in_bytes(&r->s, f->value, &f->p);
  if (status != PB_FIELD) return status;
  switch (pb_field_key(f)) {
    case PB_KEY(XPLANE_ID, PB_VARINT): plane->id = (int64_t)f->value; break;
    case PB_KEY(XPLANE_NAME, PB_BYTES): r->plane_name = plane->name = xplane_text(r, f->p, (size_t)f->value); break;
    case PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES):
    case PB_KEY(XPLANE_STAT_METADATA, PB_BYTES):
    case PB_KEY(XPLANE_STATS, PB_BYTES):
      if (!is_sound(r, f)) return PB_FIELD;
      break;
    default:
      if (f->number <= XPLANE_STATS) {
        xplane_note_odd(r);
        return PB_FIELD;
      }
  }
  pb_field(&r->t->store->raw, f);
  return mem_check(&r->t->store->mem, r->err) ? PB_FIELD : PB_FAIL;
}

static enum pb_status plane_line(struct xplane_reader *r, struct xplane_plane *plane, uint64_t size, uint64_t end) {
  const uint64_t at = pb_in_offset(&r->s);
  const enum pb_status status = xplane_read_line(r, plane->process, ++plane->lines, (struct xplane_extent){at + size, end});
  plane->line_bytes += pb_in_offset(&r->s) - at;
  return status == PB_DONE ? PB_FIELD : status;
}

static enum pb_status plane_fields(struct xplane_reader *r, struct xplane_plane *plane, uint64_t end) {
  enum pb_status status;
  struct pb_field f;
  struct xplane_extent extent = {end, UINT64_MAX};
  for (;;) {
    status = xplane_next(r, &XPLANE_PLANE_LEVEL, &extent, &f);
    if (status == PB_FIELD && pb_field_key(&f) == PB_KEY(XSPACE_PLANES, PB_BYTES) &&
        xplane_step_back(&r->s, &XPLANE_SPACE_LEVEL, UINT64_MAX)) {
      xplane_note(r, TK_NOTE_REPAIR, "plane shorter than its stated length");
      return PB_DONE;
    }
    if (status == PB_FIELD && pb_field_key(&f) == PB_KEY(XPLANE_LINES, PB_BYTES)) status = plane_line(r, plane, f.value, extent.end);
    else if (status == PB_FIELD) status = plane_field(r, plane, &f);
    if (status != PB_FIELD) return status;
    if (!xplane_tick(r)) return PB_FAIL;
  }
}

/* Merges the parts of a plane into one process (repeated fields may be split into several parts). If files were joined by cat,
 * parts of different files stay separate. */
static void join_parts(struct xplane_reader *r, uint32_t at, uint32_t first_line) {
  uint32_t n, n_lines, *same;
  struct xplane_plane *planes = xplane_planes(r, &n), *plane = &planes[at];
  struct xplane_line *lines = xplane_lines(r, &n_lines);
  uint64_t key = hash_pair((uint64_t)plane->segment << 32 | plane->name, (uint64_t)plane->id);
  if (plane->lines == 0 || (same = map_put(&r->parts, key, at + 1)) == NULL || *same == at + 1) return;
  if (planes[*same - 1].id != plane->id || planes[*same - 1].name != plane->name) return;
  xplane_note(r, TK_NOTE_INFO, "plane in several parts: joined");
  for (uint32_t k = first_line; k < n_lines; k++) lines[k].process = planes[*same - 1].process;
  for (tk_id k = plane->process + 1; k <= r->t->n_tracks; k++) /* its threads and counters */
    if (r->t->tracks[k].parent == plane->process) r->t->tracks[k].parent = planes[*same - 1].process;
  r->t->tracks[plane->process].name = 0;
  r->t->tracks[plane->process].hidden = true;
}

static enum pb_status read_plane(struct xplane_reader *r, uint64_t end) {
  uint32_t first_line, n;
  enum pb_status status;
  struct xplane_plane plane = {.at = r->t->store->raw.len};
  if (r->segment_ends) r->segment++;
  r->segment_ends = false;
  plane.segment = r->segment;
  plane.process = xplane_new_track(r, TK_TRACK_PROCESS, 0);
  xplane_lines(r, &first_line);
  plane.first_line = first_line;
  forget_plane(r);
  r->stat_bytes = 0;
  r->first_shape = r->t->store->n_shapes + 1;
  buf_append(&r->planes, &plane, sizeof plane);
  status = plane_fields(r, &plane, end);
  plane.size = r->t->store->raw.len - plane.at;
  plane.stat_bytes = r->stat_bytes;
  r->t->tracks[plane.process].name = xplane_shown(plane.name);
  if (status != PB_FAIL && !xplane_name_plane(r, &plane, first_line)) status = PB_FAIL;
  xplane_keep_types(r, &plane);
  r->plane_name = 0;
  if (status == PB_FAIL) {
    err_prefix(r->err, "plane '%s'", tk_string(r->t, plane.name, NULL));
    return status;
  }
  struct xstat tracks;
  const bool is_private = plane.lines == 0 && xplane_plane_stat(r->t, &plane, XPLANE_PRIVATE_TRACKS, &tracks);
  if (plane.lines == 0 && r->t->n_tracks == plane.process && !is_private) {
    r->t->n_tracks--; /* the plane only has metadata and no timeline */
    plane.process = 0;
  }
  xplane_planes(r, &n);
  ((struct xplane_plane *)(void *)r->planes.data)[n - 1] = plane;
  join_parts(r, n - 1, first_line);
  return status;
}

/* ---- the file ---- */

/* Returns the end of a message. For an impossible length, returns an offset that is never reached. */
static uint64_t read_end_of(const struct xplane_reader *r, uint64_t length) {
  uint64_t at = pb_in_offset(&r->s);
  return length > UINT64_MAX / 2 - at ? UINT64_MAX / 2 : at + length;
}

static enum pb_status space_field(struct xplane_reader *r, struct pb_field *f) {
  enum pb_status status = PB_FIELD;
  if (pb_field_key(f) == PB_KEY(XSPACE_PLANES, PB_BYTES)) {
    status = read_plane(r, read_end_of(r, f->value));
    return status == PB_DONE ? PB_FIELD : status;
  }
  if (f->wire == PB_BYTES) status = pb_in_bytes(&r->s, f->value, &f->p);
  if (status != PB_FIELD) return status;
  if (f->number <= XSPACE_HOSTNAMES && f->wire != PB_BYTES) {
    xplane_note_odd(r);
    return PB_FIELD;
  }
  if (!r->segment_ends) pb_u64(&r->space, XPLANE_SEGMENT, r->segment);
  r->segment_ends = true;
  pb_field(&r->space, f);
  return PB_FIELD;
}

static bool read_space(struct xplane_reader *r) {
  struct xplane_extent extent = {UINT64_MAX, UINT64_MAX};
  enum pb_status status;
  struct pb_field f;
  uint32_t n;
  do {
    status = xplane_next(r, &XPLANE_SPACE_LEVEL, &extent, &f);
    if (status == PB_FIELD) status = space_field(r, &f);
  } while (status == PB_FIELD);
  if (status == PB_FAIL) return false;
  if (status == PB_CUT) {
    xplane_note(r, TK_NOTE_REPAIR, "truncated: the file ends inside a message");
    r->t->truncated = true;
  }
  xplane_planes(r, &n);
  if (n == 0 && r->space.len == 0) return err_set(r->err, TK_EFORMAT, "no planes");
  return true;
}

bool xplane_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct xplane_reader *r = mem_alloc(mem, sizeof *r);
  bool ok;
  if (!r) return mem_refuse(mem, err);
  *r = (struct xplane_reader){.t = t, .err = err, .opt = opt, .s = {.in = in, .err = err}};
  r->planes.mem = r->lines.mem = r->classes.mem = r->space.mem = r->text.mem = r->event_fields.mem = r->line_fields.mem = mem;
  map_init(&r->class_ids, mem);
  map_init(&r->stat_ids, mem);
  map_init(&r->parts, mem);
  ok = xplane_chunks_start(r) && read_space(r);
  chunks_stop(r->chunks);
  if (ok) {
    t->counts.bytes = pb_in_offset(&r->s);
    t->counts.read = t->n_events - r->made;
    forget_plane(r);
    xplane_finish(r);
  }
  map_free(&r->class_ids);
  map_free(&r->stat_ids);
  map_free(&r->parts);
  mem_free(mem, r->stats);
  buf_free(&r->planes);
  buf_free(&r->lines);
  buf_free(&r->classes);
  buf_free(&r->space);
  buf_free(&r->text);
  buf_free(&r->event_fields);
  buf_free(&r->line_fields);
  mem_free(mem, r);
  return ok && mem_check(mem, err);
}
