/* read.c - reads profiles of the Firefox Profiler (https://github.com/firefox-devtools/profiler: src/types/profile.ts and
 * gecko-profile.ts, docs-developer/CHANGELOG-formats.md), in both of their forms: processed profiles, which
 * profiler.firefox.com and samply write, and raw profiles, which Firefox itself writes.
 *
 *     {"meta":{"startTime":1636162232627,"preprocessedProfileVersion":66,..},"libs":[..],
 *      "shared":{"stringArray":[..],"funcTable":{..},"frameTable":{..},"stackTable":{..}},
 *      "threads":[{"name":"GeckoMain","pid":"12","tid":12,"samples":{..},"markers":{..}}],"counters":[..]}
 *     {"meta":{"version":24,..},"libs":[..],"threads":[{..,"stringTable":[..],"samples":{"schema":{..},"data":[..]}}],"processes":[..]}
 *
 * The start time of the main process is the origin; times count milliseconds from the start of their process. Tables may follow the
 * samples that refer to them, so the file is read as a whole. */
#include "read.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "counters.h"
#include "flows.h"
#include "format/time_base.h"
#include "locations.h"
#include "markers.h"
#include "samples.h"
#include "tables.h"
#include "values.h"

enum { PROCESSES_MOST = 4 }; /* levels of nested processes; Firefox writes one */

/* ---- detection ---- */

static bool peek_has(const uint8_t *p, size_t n, const char *key) { return memmem(p, n, key, strlen(key)) != NULL; }

unsigned gecko_bid(const uint8_t *p, size_t n) {
  static const char *const META[] = {"\"interval\"", "\"processType\"", "\"startTime\"", "\"stackwalk\"", "\"markerSchema\"",
                                     "\"sampleUnits\"", "\"shutdownTime\""};
  static const char *const TABLES[] = {"\"stackTable\"", "\"frameTable\"", "\"breakpadId\"", "\"funcTable\""};
  static const char RECORDED[] = "{\"label\":"; /* DevTools before Firefox 64 put markers, which may be many, before the profile */
  unsigned keys = 0, tables = 0;
  size_t i = 0;
  if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) i = 3;
  while (i < n && json_is_space(p[i])) i++;
  if (i == n || p[i] != '{' || peek_has(p, n, "\"ph\"") || peek_has(p, n, "\"traceEvents\"")) return 0;
  for (size_t k = 0; k < sizeof META / sizeof META[0]; k++) keys += peek_has(p, n, META[k]);
  for (size_t k = 0; k < sizeof TABLES / sizeof TABLES[0]; k++) tables += peek_has(p, n, TABLES[k]);
  if (peek_has(p, n, "\"meta\"") && (peek_has(p, n, "\"preprocessedProfileVersion\"") || keys >= 2)) return 260;
  if (memcmp(p + i, RECORDED, sizeof RECORDED - 1) == 0 && peek_has(p, n, "\"duration\"") && peek_has(p, n, "\"markers\"")) return 100;
  return tables >= 2 || (tables && peek_has(p, n, "\"libs\"")) ? 200 : 0;
}

/* ---- the profile ---- */

static enum gecko_field field_of_format(struct json *j, const struct json_string *format) {
  if (json_is(j, format, "unique-string")) return GECKO_FIELD_STRING;
  if (json_is(j, format, "flow-id")) return GECKO_FIELD_FLOW;
  return json_is(j, format, "terminating-flow-id") ? GECKO_FIELD_LAST_FLOW : GECKO_FIELD_OTHER;
}

/* Remembers which members of markers are indices of strings. */
static void read_schema(struct gecko *g, struct json_walk *w, const struct json_value *item) {
  struct json_value name, fields, field;
  const struct json_place places[] = {{"name", &name}, {"fields", &fields}, {"data", &fields}, {NULL, NULL}};
  if (item->type != JSON_OBJECT) return;
  json_walk_object(w, item, places);
  const tk_id type = gecko_text(g, w, &name);
  struct json_walk in = json_walk_into(w, &fields);
  if (type && fields.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &field)) {
      struct json_value key, format;
      const struct json_place members[] = {{"key", &key}, {"format", &format}, {NULL, NULL}};
      if (field.type != JSON_OBJECT) continue;
      json_walk_object(&in, &field, members);
      if (!format.p || format.type != JSON_STRING) continue;
      const enum gecko_field meaning = field_of_format(&in.j, &format.str);
      if (meaning != GECKO_FIELD_OTHER) map_put(&g->fields, hash_pair(type, gecko_text(g, &in, &key)), meaning);
      g->has_flows |= meaning >= GECKO_FIELD_FLOW;
    }
  json_walk_free(&in);
}

struct gecko_meta {
  struct json_value start, categories, schemas, units;
};

static void find_meta(struct json_walk *w, const struct json_value *meta, struct gecko_meta *m) {
  const struct json_place places[] = {{"startTime", &m->start}, {"categories", &m->categories}, {"markerSchema", &m->schemas},
                                      {"sampleUnits", &m->units}, {NULL, NULL}};
  json_walk_object(w, meta, places);
}

static void read_meta(struct gecko *g, struct json_walk *w, const struct gecko_meta *m) {
  struct json_value time, item;
  const struct json_place places[] = {{"time", &time}, {NULL, NULL}};
  g->categories.n = 0;
  gecko_read_categories(g, w, &m->categories);
  json_walk_object(w, &m->units, places);
  g->times_are_bytes = time.p && time.type == JSON_STRING && json_is(&w->j, &time.str, "bytes");
  struct json_walk in = json_walk_into(w, &m->schemas);
  if (m->schemas.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) read_schema(g, &in, &item);
  json_walk_free(&in);
}

/* Sets the origin, unless the start is missing or cannot be a date, as in imported profiles. */
static void set_origin(struct gecko *g, const struct json_value *start) {
  struct tk_trace *t = g->t;
  i128 ps;
  if (!start->p || start->type != JSON_NUMBER || !num_scaled(start->p, start->end, 9, &ps)) return;
  const i128 ns = ps / 1000;
  g->start_ps = ps;
  if (ns <= 0 || ns > INT64_MAX || !time_base_is_date((int64_t)ns)) return;
  t->origin_ns = t->zero_ns = (int64_t)ns;
  t->has_zero = true;
  t->clock = TK_CLOCK_REALTIME;
  t->store->clock_from = "meta.startTime";
  g->start_ps = ns * 1000;
  g->offset_ps = ps - g->start_ps;
}

/* ---- threads ---- */

struct gecko_thread {
  struct json_value name, pid, tid, process, samples, markers, js, native, tracer;
};

/* Returns the track of a thread; a second thread with the same ids gets a number. */
static tk_id thread_track(struct gecko *g, struct json_walk *w, const struct gecko_thread *x) {
  struct tk_ident tid = ident_int((int64_t)++g->n_threads);
  char text[64];
  g->pid = ident_int(1);
  gecko_ident(g, w, &x->pid, &g->pid);
  gecko_ident(g, w, &x->tid, &tid);
  tk_id track = trace_track(g->t, TK_TRACK_THREAD, g->pid, tid, 0);
  uint32_t *n = map_put(&g->threads, track, 0);
  if (n && ++*n > 1 && tid.kind == TK_IDENT_INT) {
    snprintf(text, sizeof text, "%lld.%u", (long long)tid.num, *n - 1);
    track = trace_track(g->t, TK_TRACK_THREAD, g->pid, ident_str(trace_text(g->t, text)), 0);
    trace_note(g->t, TK_NOTE_INFO, UINT64_MAX, "several threads with the same id: a number was added to the id");
  }
  return track;
}

static void name_track(struct gecko *g, tk_id track, tk_id name) {
  struct tk_track *k = &g->t->tracks[track];
  if (!name || k->name || !trace_str(g->t, name)->len) return;
  k->name = name;
  k->renamed = true; /* no record contains the name, so writers must write it */
}

static void read_thread(struct gecko *g, struct json_walk *w, const struct json_value *item) {
  struct gecko_thread x = {.name = {.p = NULL}};
  const struct json_place places[] = {{"name", &x.name}, {"pid", &x.pid}, {"tid", &x.tid}, {"processName", &x.process},
                                      {"samples", &x.samples}, {"markers", &x.markers}, {"jsAllocations", &x.js},
                                      {"nativeAllocations", &x.native}, {"jsTracerEvents", &x.tracer}, {"jsTracer", &x.tracer},
                                      {NULL, NULL}};
  if (item->type != JSON_OBJECT) {
    gecko_repair(g, item->p, "thread that is not an object: skipped");
    return;
  }
  json_walk_object(w, item, places);
  g->tables = g->shared;
  gecko_read_tables(g, &g->tables, &g->shared, w, item);
  g->track = thread_track(g, w, &x);
  g->has_sample = false;
  name_track(g, g->track, gecko_text(g, w, &x.name));
  name_track(g, g->t->tracks[g->track].parent, gecko_text(g, w, &x.process));
  gecko_read_samples(g, w, &x.samples, 0);
  gecko_read_samples(g, w, &x.js, trace_text(g->t, "JS allocation"));
  gecko_read_samples(g, w, &x.native, trace_text(g->t, "Native allocation"));
  gecko_read_markers(g, w, &x.markers);
  if (x.tracer.p && x.tracer.type == JSON_OBJECT)
    trace_note(g->t, TK_NOTE_FACT, UINT64_MAX, "events of the JavaScript tracer: not read");
  gecko_free_tables(g, &g->tables, &g->shared);
}

/* ---- processes ---- */

struct gecko_profile {
  struct json_value meta, libs, shared, threads, counters, processes, overhead;
};

static void find_profile(struct json_walk *w, const struct json_value *object, struct gecko_profile *p) {
  const struct json_place places[] = {{"meta", &p->meta}, {"libs", &p->libs}, {"shared", &p->shared}, {"threads", &p->threads},
                                      {"counters", &p->counters}, {"processes", &p->processes}, {"profilerOverhead", &p->overhead},
                                      {NULL, NULL}};
  *p = (struct gecko_profile){.meta = {.p = NULL}};
  json_walk_object(w, object, places);
}

static void read_threads(struct gecko *g, struct json_walk *w, const struct gecko_profile *p) {
  struct json_walk in = json_walk_into(w, &p->threads);
  struct tk_ident main = ident_int(1);
  struct json_value item;
  bool any = false;
  if (p->threads.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) {
      read_thread(g, &in, &item);
      if (!any) main = g->pid;
      any = true;
    }
  json_walk_free(&in);
  g->pid = main; /* raw counters belong to the process of the first thread */
  gecko_read_counters(g, w, &p->counters);
  if (p->overhead.p && p->overhead.type != JSON_NULL)
    trace_note(g->t, TK_NOTE_FACT, UINT64_MAX, "overhead of the profiler itself: not read");
}

/* Reads the processes of a raw profile. Their times are relative to their own start. */
static void read_processes(struct gecko *g, struct json_walk *w, const struct json_value *list, unsigned level) {
  struct json_walk in = json_walk_into(w, list);
  struct json_value item;
  if (list->p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) {
      struct gecko_profile p;
      struct gecko_meta m = {.start = {.p = NULL}};
      i128 ps;
      const bool too_deep = level >= PROCESSES_MOST;
      if (item.type != JSON_OBJECT || too_deep) {
        gecko_repair(g, item.p, too_deep ? "processes nested too deeply: skipped" : "process that is not an object: skipped");
        continue;
      }
      find_profile(&in, &item, &p);
      find_meta(&in, &p.meta, &m);
      read_meta(g, &in, &m);
      g->offset_ps = 0;
      if (m.start.p && m.start.type == JSON_NUMBER && num_scaled(m.start.p, m.start.end, 9, &ps))
        g->offset_ps = ps - g->start_ps;
      gecko_read_libs(g, &in, &p.libs);
      read_threads(g, &in, &p);
      read_processes(g, &in, &p.processes, level + 1);
    }
  json_walk_free(&in);
}

/* Finds the profile in a document. Recordings of the DevTools of Firefox 59 to 79 contain it in the member "profile". Returns true for
 * such a recording. */
static bool find_document(struct json_walk *w, struct json_value *document, struct gecko_profile *p) {
  struct json_value inner;
  const struct json_place places[] = {{"profile", &inner}, {NULL, NULL}};
  find_profile(w, document, p);
  if (p->threads.p) return false;
  json_walk_object(w, document, places);
  if (!inner.p || inner.type != JSON_OBJECT) return false;
  *document = inner;
  find_profile(w, document, p);
  return true;
}

/* The DevTools subtract the time at which a recording began from the times of samples (offsetSampleTimes), but not from the
 * times of markers, and do not store it. So nothing shows which marker belongs to which sample: markers lose their clock. */
static void part_markers(struct gecko *g) {
  struct tk_trace *t = g->t;
  uint64_t n = 0;
  bool any = false;
  for (tk_id i = 1; i <= t->n_events; i++) any = any || t->events[i].kind == TK_EVENT_SAMPLE;
  for (tk_id i = 1; any && i <= t->n_events; i++) {
    if (t->events[i].kind == TK_EVENT_SAMPLE) continue;
    t->events[i].flags |= TK_FLAG_LOST_CLOCK;
    n++;
  }
  if (n) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "markers of a recording of the DevTools, whose samples have another clock: "
                                                  "placed at the start", n);
}

static void read_document(struct gecko *g, size_t n) {
  static const struct gecko_tables NONE;
  struct json_walk w = json_walk_over(g->text, g->text + n, g->mem);
  struct json_value document;
  struct gecko_meta m = {.start = {.p = NULL}};
  struct gecko_profile p;
  if (n >= 3 && memcmp(g->text, "\xef\xbb\xbf", 3) == 0) w.j.p += 3;
  if (!json_walk_value(&w, &document) || w.cut || document.type != JSON_OBJECT) {
    trace_note(g->t, TK_NOTE_REPAIR, (uint64_t)(w.j.p - g->text), "the JSON is truncated or damaged here: the part before was read");
    g->t->truncated = true;
  }
  if (document.p && document.type == JSON_OBJECT) {
    g->is_recording = find_document(&w, &document, &p);
    find_meta(&w, &p.meta, &m);
    if (!g->is_recording) set_origin(g, &m.start); /* samples of a recording count from its own start */
    read_meta(g, &w, &m);
    gecko_read_tables(g, &g->shared, &NONE, &w, &document);
    gecko_read_tables(g, &g->shared, &NONE, &w, &p.shared);
    gecko_read_libs(g, &w, &p.libs);
    read_threads(g, &w, &p);
    read_processes(g, &w, &p.processes, 0);
    if (g->is_recording) part_markers(g);
  }
  json_walk_free(&w);
}

static void note_facts(struct gecko *g) {
  struct tk_trace *t = g->t;
  if (!t->n_events) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "no events");
  if (g->n_stackless) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "samples without a stack: left out", g->n_stackless);
  if (g->n_marker_stacks) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "stacks of markers: not read", g->n_marker_stacks);
  if (g->n_started_before)
    trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "markers that started before the recording: clipped", g->n_started_before);
  if (g->times_are_bytes) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "sample times are offsets into a file, not times: all "
                                                                  "samples are placed at time 0");
}

static void free_reader(struct gecko *g) {
  static const struct gecko_tables NONE;
  gecko_free_tables(g, &g->shared, &NONE);
  mem_free(g->mem, g->categories.v);
  mem_free(g->mem, g->mappings);
  mem_free(g->mem, g->open);
  mem_free(g->mem, g->flows);
  map_free(&g->fields);
  map_free(&g->threads);
}

bool gecko_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct buf text = {.mem = mem};
  struct gecko g = {.t = t, .mem = mem};
  size_t n;
  (void)opt;
  map_init(&g.fields, mem);
  map_init(&g.threads, mem);
  g.unit_samples = trace_text(t, "samples");
  g.unit_ms = trace_text(t, "ms");
  g.unit_bytes = trace_text(t, "bytes");
  g.key_type = trace_text(t, "type");
  g.key_cpu = trace_text(t, "threadCPUDelta");
  g.key_delay = trace_text(t, "eventDelay");
  g.key_responsiveness = trace_text(t, "responsiveness");
  const bool ok = json_walk_load(in, &text, &n, err);
  g.text = text.data;
  if (ok) read_document(&g, n);
  if (ok) gecko_add_flows(&g);
  if (ok) note_facts(&g);
  t->counts.bytes = in_offset(in);
  free_reader(&g);
  buf_free(&text);
  return ok && mem_check(mem, err);
}
