/* private.c - reads the private data of our writer, so that converting Chrome JSON to XPlane and back restores the original.
 *
 *     plane stat "tracekit.tracks"
 *         {"pid":..,"name":..,"labels":..,"sort":..,"lines":[{"line":1,"kind":"async","tid":..,..},..]}
 *     plane "/tracekit:metadata"
 *         zero and base of time, top-level data by key
 *
 * Files are not trusted: values in other forms than those of our writer are ignored. */
#include <string.h>

#include "private.h"
#include "format/json_args.h"
#include "format/xplane/private.h"
#include "format/time_base.h"
#include "reader.h"

enum { PAD = 64 };
static const uint8_t ZEROS[PAD];
static const char OURS[] = "tracekit";

/* ---- tracks ---- */

/* A plane whose tracks are being restored, with an index of its threads and counters. */
struct restored_plane {
  struct xplane_reader *r;
  const struct xplane_plane *plane;
  struct map threads;  /* tid -> track */
  struct map counters; /* name -> track */
};

static struct restored_plane *restored_of(const struct xplane_object *o) { return o->arg; }

static struct xplane_line *line_at(const struct restored_plane *restored, int64_t ordinal) {
  uint32_t n;
  struct xplane_line *lines = xplane_lines(restored->r, &n);
  return ordinal >= 1 && ordinal <= restored->plane->lines ? &lines[restored->plane->first_line + ordinal - 1] : NULL;
}

static void move_events(struct xplane_reader *r, const struct xplane_line *line, tk_id track) {
  for (tk_id i = line->first; i < line->first + line->count; i++) r->t->events[i].track = track;
}

static void restore_line(const struct xplane_object *o, struct xplane_line *line) {
  struct tk_trace *t = o->t;
  struct tk_track *k = &t->tracks[line->track];
  const char *kind = tk_string(t, xplane_object_text(o, "kind"), NULL);
  struct json_value v;
  k->tid = xplane_object_ident(o, "tid");
  k->name = xplane_object_text(o, "name");
  k->has_sort = xplane_object_int(o, "sort", &k->sort_index);
  k->no_lanes = xplane_object_member(o, "no_lanes", &v) && v.type == JSON_TRUE;
  if (strcmp(kind, "async") == 0) line->kind = XLINE_ASYNC, k->kind = TK_TRACK_ASYNCS;
  if (strcmp(kind, "process") == 0) line->kind = XLINE_PROCESS, move_events(restored_of(o)->r, line, line->process);
  bool is_thread = line->kind == XLINE_COUNTERS && xplane_object_member(o, "is_thread", &v);
  if (line->kind == XLINE_PROCESS || (line->kind == XLINE_COUNTERS && !is_thread)) k->hidden = true;
}

/* Restores the thread on which a counter was sampled, from {"name":..,"tid":..}. */
static void restore_counter(const struct xplane_object *o) {
  uint32_t *track = map_get(&restored_of(o)->counters, xplane_object_text(o, "name"));
  if (track) o->t->tracks[*track].tid = xplane_object_ident(o, "tid");
}

static void restore_one_line(const struct xplane_object *o) {
  struct xplane_line *line;
  int64_t ordinal;
  if (xplane_object_int(o, "line", &ordinal) && (line = line_at(restored_of(o), ordinal)) != NULL) restore_line(o, line);
}

static void restore_tracks(struct restored_plane *restored) {
  struct xplane_reader *r = restored->r;
  struct buf text = {.mem = &r->t->store->mem};
  struct tk_track *k = &r->t->tracks[restored->plane->process];
  struct xstat s;
  if (xplane_plane_stat(r->t, restored->plane, XPLANE_PRIVATE_TRACKS, &s) && s.field == XSTAT_STR &&
      xplane_strict_json(s.p, (size_t)s.value, &text)) {
    struct xplane_object o;
    struct json_value list;
    xplane_object_scan(&o, r->t, text.data, text.len, restored);
    k->pid = xplane_object_ident(&o, "pid");
    k->name = xplane_object_text(&o, "name");
    k->labels = xplane_object_text(&o, "labels");
    k->has_sort = xplane_object_int(&o, "sort", &k->sort_index);
    if (xplane_object_member(&o, "lines", &list)) xplane_each_object(r->t, &list, restored, restore_one_line);
    if (xplane_object_member(&o, "counters", &list)) xplane_each_object(r->t, &list, restored, restore_counter);
  }
  buf_free(&text);
}

/* ---- records ---- */

static uint64_t private_key_of(struct tk_ident i) {
  return i.kind == TK_IDENT_STR ? hash_number(i.str) : (uint64_t)i.num + (i.kind == TK_IDENT_NONE);
}

static tk_id thread_of(const struct xplane_object *o, const char *key) {
  struct tk_ident tid = xplane_object_ident(o, key);
  uint32_t *track = map_get(&restored_of(o)->threads, private_key_of(tid));
  return track && trace_ident_equal(o->t->tracks[*track].tid, tid) ? *track : 0;
}

/* Indexes the threads. Must be called after they have got their original tids. */
static void find_threads(struct restored_plane *restored) {
  const struct tk_trace *t = restored->r->t;
  for (uint32_t i = 1; i <= restored->plane->lines; i++) {
    tk_id track = line_at(restored, i)->track;
    if (t->tracks[track].kind == TK_TRACK_THREAD && !t->tracks[track].hidden)
      map_put(&restored->threads, private_key_of(t->tracks[track].tid), track);
  }
}

static void restore_record(const struct xplane_object *o) {
  struct tk_trace *t = o->t;
  struct json_value raw, v;
  struct tk_record rec = {.track = restored_of(o)->plane->process};
  int64_t kind, ts;
  if (!xplane_object_int(o, "kind", &kind) || kind < TK_RECORD_OTHER || kind > TK_RECORD_THREAD_SORT) return;
  if (!xplane_object_member(o, "raw", &raw) || raw.type != JSON_OBJECT) return;
  const bool apart = xplane_object_member(o, "apart", &v);
  if (apart) rec.track = 0;
  if (xplane_object_member(o, "thread", &v)) rec.track = thread_of(o, "tid");
  rec.kind = (uint8_t)kind;
  rec.phase = *tk_string(t, xplane_object_text(o, "ph"), NULL);
  rec.strong = xplane_object_member(o, "strong", &v);
  if (xplane_object_int(o, "ts", &ts)) {
    i128 ps = ts - ((i128)t->origin_ns - restored_of(o)->r->base_ns) * 1000;
    rec.has_ts = ps < INT64_MAX && ps > INT64_MIN;
    rec.ts = rec.has_ts ? (tk_time)ps : 0;
  }
  rec.at = t->store->raw.len;
  rec.size = (uint32_t)(raw.end - raw.p - 2);
  if ((!rec.track && !apart) || !buf_append(&t->store->raw, raw.p + 1, rec.size)) return;
  trace_end_raw(t);
  *trace_add_record(t) = rec;
  if (kind != TK_RECORD_OTHER && rec.track) t->tracks[rec.track].renamed = false; /* because its records contain its name */
}

static void restore_flow(const struct xplane_object *o) {
  struct tk_trace *t = o->t;
  struct json_value v;
  struct tk_flow_point f = {.at = thread_of(o, "tid")};
  int64_t role, ts, id = 0;
  i128 ps;
  if (!f.at || !xplane_object_int(o, "role", &role) || role < TK_FLOW_START || role > TK_FLOW_END) return;
  if (!xplane_object_int(o, "ts", &ts)) return;
  f.id_kind = xplane_object_int(o, "id", &id) ? TK_FLOW_ID_INT : TK_FLOW_ID_STR;
  f.id = f.id_kind == TK_FLOW_ID_STR ? (int64_t)xplane_object_text(o, "id") : id;
  ps = ts - ((i128)t->origin_ns - restored_of(o)->r->base_ns) * 1000;
  if (ps >= INT64_MAX / 2 || ps <= INT64_MIN / 2 || (f.id_kind == TK_FLOW_ID_STR && !f.id)) return;
  f.ts = (tk_time)ps;
  f.role = (uint8_t)role;
  f.enclosing = xplane_object_member(o, "enclosing", &v);
  f.cls = trace_class(t, xplane_object_text(o, "name"), xplane_object_text(o, "cat"));
  if (xplane_object_member(o, "args", &v)) f.args = json_take_args(t, v.p, (size_t)(v.end - v.p));
  *trace_add_flow_point(t) = f;
}

/* Calls `restore` for each object of a plane's stat, which is a JSON array. */
static void restore_list(struct restored_plane *restored, const char *stat, void (*restore)(const struct xplane_object *o)) {
  struct tk_trace *t = restored->r->t;
  struct buf text = {.mem = &t->store->mem};
  struct xstat s;
  if (xplane_plane_stat(t, restored->plane, stat, &s) && s.field == XSTAT_STR &&
      xplane_strict_json(s.p, (size_t)s.value, &text) && *text.data == '[') {
    const struct json_value list = {.type = JSON_ARRAY, .p = text.data, .end = text.data + text.len};
    xplane_each_object(t, &list, restored, restore);
  }
  buf_free(&text);
}

static void restore_plane(struct xplane_reader *r, const struct xplane_plane *plane) {
  struct restored_plane restored = {.r = r, .plane = plane};
  const struct tk_trace *t = r->t;
  struct xstat s;
  if (!xplane_plane_stat(t, plane, XPLANE_PRIVATE_TRACKS, &s)) return;
  map_init(&restored.threads, &r->t->store->mem);
  map_init(&restored.counters, &r->t->store->mem);
  for (uint32_t i = 1; i <= plane->lines; i++) {
    const struct xplane_line *line = line_at(&restored, i);
    if (line->kind != XLINE_COUNTERS) continue;
    for (tk_id e = line->first; e < line->first + line->count; e++)
      map_put(&restored.counters, t->tracks[t->events[e].track].name, t->events[e].track);
  }
  restore_tracks(&restored);
  find_threads(&restored);
  restore_list(&restored, XPLANE_PRIVATE_FLOWS, restore_flow);
  restore_list(&restored, XPLANE_PRIVATE_RECORDS, restore_record);
  map_free(&restored.threads);
  map_free(&restored.counters);
}

/* ---- the whole file ---- */

/* Restores top-level data with its key; "after." marks data that was after the events. */
static void restore_meta(struct xplane_reader *r, struct xplane_bytes name, const struct xstat *s) {
  struct tk_trace *t = r->t;
  size_t prefix = strlen(XPLANE_PRIVATE_META);
  struct buf text = {.mem = &t->store->mem};
  bool after = name.n > prefix + 6 && memcmp(name.p + prefix, "after.", 6) == 0;
  if (after) prefix += 6;
  if (s->field == XSTAT_STR && utf8_valid(name.p, name.n) && xplane_strict_json(s->p, (size_t)s->value, &text)) {
    tk_id key = trace_string(t, name.p + prefix, name.n - prefix);
    xplane_add_meta(t, tk_string(t, key, NULL), text.data, text.len, false);
    t->metas[t->n_metas].after = after;
    r->converted = true;
  }
  buf_free(&text);
}

static bool begins_with(const struct xplane_name *name, const char *text) {
  return name && name->text.n > strlen(text) && memcmp(name->text.p, text, strlen(text)) == 0;
}

static bool is_called(const struct xplane_name *name, const char *text) {
  return name && name->text.n == strlen(text) && memcmp(name->text.p, text, name->text.n) == 0;
}

/* Restores tracekit's provenance of the file and of its ranks, whatever their original format. */
static void restore_provenance(struct xplane_reader *r, const struct xstat *s) {
  static const uint8_t BLANK = ' '; /* a space, which ends a number */
  struct mem *mem = &r->t->store->mem;
  struct buf text = {.mem = mem}, compact = {.mem = mem};
  struct json j = {.last = true, .scratch = {.mem = mem}};
  bool ok = s->field == XSTAT_STR && buf_append(&text, s->p, (size_t)s->value) && buf_append(&text, &BLANK, 1) &&
            buf_append(&text, ZEROS, PAD);
  if (ok) {
    j.p = text.data;
    j.end = text.data + s->value + 1;
  }
  if (ok && json_copy(&j, &compact) && j.n_fixes == 0 && *compact.data == '{') {
    xplane_add_meta(r->t, OURS, compact.data, compact.len, false);
    r->t->metas[r->t->n_metas].after = true;
  }
  buf_free(&text);
  buf_free(&compact);
  buf_free(&j.scratch);
}

/* Restores file-wide data from the private plane. Copies the plane's text first, because adding metas moves the text. */
static void restore_file(struct xplane_reader *r, const struct xplane_plane *plane) {
  struct buf copy = {.mem = &r->t->store->mem};
  struct xplane_names names;
  struct pb c, inner;
  struct pb_field f;
  struct xstat s;
  bool odd = false;
  if (!buf_append(&copy, trace_raw(r->t, plane->at), (size_t)plane->size)) return;
  c = pb_over(copy.data, copy.len);
  xplane_names_of(&names, c, copy.mem);
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_STATS, PB_BYTES)) continue;
    inner = pb_inside(&f);
    if (!xplane_stat(&inner, &s, &odd)) continue;
    const struct xplane_name *name = xplane_name_of(&names, s.id);
    if (begins_with(name, XPLANE_PRIVATE_META)) restore_meta(r, name->text, &s);
    else if (is_called(name, OURS)) restore_provenance(r, &s);
  }
  xplane_names_free(&names);
  buf_free(&copy);
}

static void restore_clock(struct xplane_reader *r, const struct xplane_plane *plane) {
  static const int64_t SANE = INT64_MAX / 4;
  struct tk_trace *t = r->t;
  int64_t zero, base;
  if (!xplane_plane_int(t, plane, XPLANE_PRIVATE_ZERO, &zero)) return;
  if (!xplane_plane_int(t, plane, XPLANE_PRIVATE_BASE, &base)) return;
  if (zero > SANE || zero < -SANE || base > SANE || base < -SANE || t->origin_ns > SANE || t->origin_ns < -SANE) return;
  r->converted = true;
  if (r->base_ns == 0) {
    r->base_ns = base;
    t->origin_ns += base;
  }
  t->zero_ns = zero;
  t->has_zero = time_base_is_stated(t) || (zero && t->clock == TK_CLOCK_REALTIME);
}

/* Remembers the current names of tracks, so that the writer can see which tracks an operation has renamed. */
static void remember_names(struct xplane_reader *r) {
  uint32_t n;
  struct xplane_plane *planes = xplane_planes(r, &n);
  for (uint32_t i = 0; i < n; i++) planes[i].shown = planes[i].process ? r->t->tracks[planes[i].process].name : 0;
  struct xplane_line *lines = xplane_lines(r, &n);
  for (uint32_t i = 0; i < n; i++) lines[i].shown = r->t->tracks[lines[i].track].name;
}

void xplane_restore(struct xplane_reader *r) {
  uint32_t n;
  const struct xplane_plane *planes = xplane_planes(r, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (strcmp(tk_string(r->t, planes[i].name, NULL), XPLANE_PRIVATE_PLANE) != 0) continue;
    restore_file(r, &planes[i]);
    restore_clock(r, &planes[i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!planes[i].process || r->t->tracks[planes[i].process].hidden) continue;
    restore_plane(r, &planes[i]);
  }
  for (tk_id i = 1; i <= r->t->n_tracks; i++)
    if (r->t->tracks[i].parent) r->t->tracks[i].pid = r->t->tracks[r->t->tracks[i].parent].pid;
  remember_names(r);
}
