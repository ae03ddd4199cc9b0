/* reader.c - functions that the files of the XPlane reader share: notes, text, args from stats, classes (reader.h). */
#include "reader.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "graph/args.h"


void xplane_note(struct xplane_reader *r, enum tk_note_kind kind, const char *text) {
  r->unknown = true;
  if (r->apart) return;
  trace_note(r->t, kind, pb_in_offset(&r->s), text);
}

/* Appends "line 'python': " to a string of NOTE bytes; a long name is truncated. */
enum { NOTE = 320, NAME = 80 };
static void put_place(const struct tk_trace *t, char *text, const char *what, tk_id name) {
  const size_t at = strlen(text);
  size_t n;
  const char *bytes = tk_string(t, name, &n);
  if (!name) return;
  if (n > NAME)
    for (n = NAME; n && ((unsigned char)bytes[n] & 0xc0) == 0x80;) n--;
  snprintf(text + at, NOTE - at, "%s '%.*s': ", what, (int)n, bytes);
}

void xplane_note_damage(struct xplane_reader *r, uint64_t at, const char *what, const char *why) {
  char text[NOTE] = "";
  r->unknown = true;
  if (r->apart) return;
  put_place(r->t, text, "plane", r->plane_name);
  put_place(r->t, text, "line", r->line_name);
  const size_t n = strlen(text);
  snprintf(text + n, NOTE - n, "damaged %s skipped: %s", what, why);
  trace_note(r->t, TK_NOTE_REPAIR, at, text);
  r->t->counts.dropped++;
}

/* Continues after invalid bytes of a message: at the next field that is found in it, or after the message. */
static enum pb_status go_on(struct xplane_reader *r, const struct xplane_level *level, struct xplane_extent *extent,
                            const char *fault) {
  struct pb_in *s = &r->s;
  if (extent->end < extent->most && xplane_step_back(s, level, extent->most)) {
    xplane_note(r, TK_NOTE_REPAIR, "message longer than its stated length");
    extent->end = extent->most;
    return PB_FIELD;
  }
  pb_in_back(s, s->header);
  xplane_note_damage(r, pb_in_offset(s), level->part, fault);
  if (s->p < s->end) s->p++;
  return xplane_resync(s, level, extent);
}

/* True for a field that the message may have. Text fields of the space are excluded, because they may be planes with a damaged
 * tag. */
static bool is_expected(const struct xplane_level *level, const struct pb_field *f) {
  const bool is_text = level == &XPLANE_SPACE_LEVEL && f->number != XSPACE_PLANES;
  return xplane_has_field(level, f) && !is_text;
}

enum pb_status xplane_next(struct xplane_reader *r, const struct xplane_level *level, struct xplane_extent *extent,
                           struct pb_field *f) {
  for (;;) {
    const enum pb_status status = pb_in_next(&r->s, extent->end, f);
    const char *fault = r->s.fault;
    r->s.fault = NULL;
    if (status == PB_FIELD && is_expected(level, f)) return status;
    if (status != PB_FIELD && !fault) return status;
    if (fault) err_clear(r->err);
    if (xplane_retag(&r->s, level, extent->end, fault ? NULL : f, f)) {
      xplane_note(r, TK_NOTE_REPAIR, "message with a damaged tag: recognised by its content");
      return PB_FIELD;
    }
    if (!fault) return status;
    const enum pb_status found = go_on(r, level, extent, fault);
    if (found != PB_FIELD) return found;
  }
}

void xplane_note_odd(struct xplane_reader *r) {
  xplane_note(r, TK_NOTE_REPAIR, "fields with the wrong wire type: skipped");
}

bool xplane_tick(struct xplane_reader *r) {
  struct tk_progress progress = r->opt->progress;
  if (!mem_check(&r->t->store->mem, r->err)) return false;
  if (progress.tick && !progress.tick(progress.arg, in_raw_read(r->s.in), in_raw_total(r->s.in)))
    return err_set(r->err, TK_EINTERRUPTED, "interrupted");
  return true;
}

/* ---- strings ---- */

tk_id xplane_text(struct xplane_reader *r, const uint8_t *p, size_t n) {
  bool repaired = false;
  tk_id id = intern_text(&r->t->store->strings, p, n, r->n_not_text != 0, &repaired);
  if (repaired) xplane_note(r, TK_NOTE_REPAIR, "invalid UTF-8: replaced by U+FFFD");
  return id;
}

/* ---- stats ---- */

uint32_t xplane_stat_at(struct xplane_reader *r, int64_t id) {
  unsigned slot = (unsigned)id & 255;
  uint32_t *at;
  if (r->stat_cache[slot].at && r->stat_cache[slot].id == id) return r->stat_cache[slot].at;
  at = r->apart ? map_get(&r->stat_ids, (uint64_t)id) : map_put(&r->stat_ids, (uint64_t)id, 0);
  if (r->apart && !(at && *at)) r->unknown = true;
  if (!at || (r->apart && !*at)) return 0;
  if (!*at) {
    if (!mem_grow(&r->t->store->mem, (void **)&r->stats, &r->cap_stats, (uint64_t)r->n_stats + 2, sizeof *r->stats)) return 0;
    r->stats[ *at = ++r->n_stats] = (struct xplane_stat_name){.id = id, .type = TK_ARG_TYPES};
  }
  r->stat_cache[slot].id = id;
  return r->stat_cache[slot].at = *at;
}

/* Adds a ref as an arg. Until the end of the plane, its value is the index of its target in r->stats, packed in as many bytes
 * as any string id. */
static void add_ref(struct xplane_reader *r, tk_id key, int64_t target) {
  struct buf *payload = &r->t->store->builder.payload;
  uint32_t at = xplane_stat_at(r, target);
  uint8_t wide[5];
  size_t before = payload->len;
  args_str(r->t, key, TK_ARG_REF, 0);
  if (payload->len != before + 1) return;
  payload->len = before;
  xplane_put_ref(wide, at);
  buf_append(payload, wide, 5);
}

/* Interns bytes as a string. After the first bytes that are not text, text must be validated each time. */
static tk_id bytes_text(struct xplane_reader *r, const struct xstat *s) {
  if (!utf8_valid(s->p, (size_t)s->value)) r->n_not_text++, r->unknown = true;
  return trace_string(r->t, s->p, (size_t)s->value);
}

void xplane_arg(struct xplane_reader *r, const struct xstat *s, tk_id key) {
  struct tk_trace *t = r->t;
  uint32_t at;
  switch (s->field) {
    case XSTAT_DOUBLE: args_double(t, key, pb_as_double(s->value)); return;
    case XSTAT_UINT64: args_uint(t, key, TK_ARG_UINT, s->value); return;
    case XSTAT_INT64: args_int(t, key, (int64_t)s->value); return;
    case XSTAT_STR: args_str(t, key, TK_ARG_STR, xplane_text(r, s->p, (size_t)s->value)); return;
    case XSTAT_REF: add_ref(r, key, (int64_t)s->value); return;
    case XSTAT_COMPRESSED_STR:
      xplane_note(r, TK_NOTE_INFO, "compressed strings: kept as bytes");
      if (!r->apart && (at = xplane_stat_at(r, s->id)) != 0) r->stats[at].compressed = true;
      args_str(t, key, TK_ARG_BYTES, bytes_text(r, s));
      return;
    case XSTAT_BYTES: args_str(t, key, TK_ARG_BYTES, bytes_text(r, s)); return;
    default: args_flag(t, key, TK_ARG_NULL);
  }
}

/* Records which stats had compressed strings, as {"8":[7,9]}: 8 is the number of that XStat field, 7 and 9 are ids of stats. Stores
 * nothing if there are none. */
void xplane_keep_types(struct xplane_reader *r, struct xplane_plane *plane) {
  struct buf *raw = &r->t->store->raw;
  const uint64_t at = raw->len;
  char text[24];
  for (uint32_t i = 1; i <= r->n_stats; i++) {
    if (!r->stats[i].compressed) continue;
    buf_text(raw, raw->len > at ? "," : XPLANE_COMPRESSED);
    buf_append(raw, text, num_put_i64(text, r->stats[i].id));
  }
  if (raw->len == at) return;
  buf_text(raw, "]}");
  plane->types_at = at;
  plane->types_size = (uint32_t)(raw->len - at);
}

/* ---- classes ---- */

tk_id xplane_new_class(struct xplane_reader *r, struct xplane_class from) {
  static const struct xplane_class none = {0};
  tk_id id;
  trace_add_class(r->t);
  id = r->t->n_classes;
  while (r->classes.len < (size_t)id * sizeof none && buf_append(&r->classes, &none, sizeof none)) {
  }
  buf_append(&r->classes, &from, sizeof from);
  return id;
}

tk_id xplane_class_of(struct xplane_reader *r, int64_t id) {
  unsigned slot = (unsigned)id & 1023;
  tk_id *cls;
  uint32_t n;
  if (r->class_cache[slot].cls && r->class_cache[slot].id == id) return r->class_cache[slot].cls;
  cls = r->apart ? map_get(&r->class_ids, (uint64_t)id) : map_put(&r->class_ids, (uint64_t)id, 0);
  if (r->apart && !(cls && *cls)) r->unknown = true;
  if (!cls || (r->apart && !*cls)) return 0;
  if (!*cls) {
    const struct xplane_plane *p = xplane_planes(r, &n);
    *cls = xplane_new_class(r, (struct xplane_class){.process = n ? p[n - 1].process : 0, .id = id});
  }
  r->class_cache[slot].id = id;
  return r->class_cache[slot].cls = *cls;
}

tk_id xplane_new_track(struct xplane_reader *r, enum tk_track_kind kind, tk_id parent) {
  struct tk_track *k = trace_add_track(r->t);
  k->kind = (uint8_t)kind;
  k->parent = parent;
  k->renamed = true; /* because no record contains the name */
  return r->t->n_tracks;
}
