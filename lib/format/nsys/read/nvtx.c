/* nvtx.c - reads NVTX_EVENTS: ranges, marks, and the names of domains and categories.
 *
 * Push/pop ranges nest on their thread, also across domains. Start/end ranges that end on the same thread are also spans of the
 * thread, so that calls within such a range belong to it, as in the projections of nsys (nvtx_gpu_proj_trace.py). Ranges that
 * end on another thread are async spans. Domains and categories are numbered per process. */
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "format/torch_range.h"
#include "graph/args.h"
#include "nccl.h"
#include "nvtx.h"
#include "payload.h"
#include "schemas.h"
#include "texts.h"
#include "tracks.h"

/* Values of ENUM_NSYS_EVENT_TYPE. Events of the types ..._TEXT were imported from a text file (NVTXT). */
enum {
  CATEGORY = 33, MARK = 34, THREAD_NAME = 39, PUSHED = 59, STARTED = 60, MARK_OF_TEXT = 65, PUSHED_IN_TEXT = 70, STARTED_IN_TEXT = 71,
  DOMAIN = 75
};

enum column {
  START, END, TYPE, RANGE, CATEGORY_ID, COLOR, TEXT, GLOBAL_TID, END_GLOBAL_TID, TEXT_ID, DOMAIN_ID,
  UINT64, INT64, DOUBLE, UINT32, INT32, FLOAT, JSON_TEXT, JSON_ID, BINARY
};
static const char *const COLUMNS[] = {
    "start", "end", "eventType", "rangeId", "category", "color", "text", "globalTid", "endGlobalTid", "textId", "domainId",
    "uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "jsonText", "jsonTextId", "binaryData",
    NULL};

static bool is_started(int64_t type) { return type == STARTED || type == STARTED_IN_TEXT; }

static int64_t number(const struct sqlite_scan *row, enum column c) { return row->v[c].type == CELL_INT ? row->v[c].i : 0; }

static tk_id text_of(struct nsys *r, const struct sqlite_scan *row) {
  return texts_of(r, row->v[TEXT].type == CELL_TEXT ? &row->v[TEXT] : &row->v[TEXT_ID]);
}

static uint64_t domain_key(const struct sqlite_scan *row) {
  return hash_pair(nsys_process_of(number(row, GLOBAL_TID)), (uint64_t)number(row, DOMAIN_ID));
}
static uint64_t category_key(const struct sqlite_scan *row) { return hash_pair(domain_key(row), (uint64_t)number(row, CATEGORY_ID)); }

/* ---- names ---- */

/* Collects names in a first pass, because names are stored as events that may follow the ranges to which they apply. */
static void take_name(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  switch (number(row, TYPE)) {
  case DOMAIN: map_put(&r->domains, domain_key(row), text_of(r, row)); break;
  case CATEGORY: map_put(&r->categories, category_key(row), text_of(r, row)); break;
  case THREAD_NAME: r->d.t->tracks[tracks_thread(r, number(row, GLOBAL_TID))].name = text_of(r, row); break;
  default: break;
  }
}

/* ---- events ---- */

static void add_name(struct nsys *r, const char *key, const uint32_t *name) {
  if (name && *name) args_str(r->d.t, trace_text(r->d.t, key), TK_ARG_STR, *name);
}

/* Adds the payload of a range. At most one of the values is present; before version 2024, unused types have the value 0. */
static void add_payload(struct nsys *r, const struct sqlite_scan *row) {
  const tk_id key = trace_text(r->d.t, "payload");
  if (row->v[UINT64].type == CELL_INT) args_uint(r->d.t, key, TK_ARG_UINT, (uint64_t)row->v[UINT64].i);
  else if (row->v[INT64].type == CELL_INT) args_int(r->d.t, key, row->v[INT64].i);
  else if (row->v[UINT32].type == CELL_INT) args_int(r->d.t, key, row->v[UINT32].i);
  else if (row->v[INT32].type == CELL_INT) args_int(r->d.t, key, row->v[INT32].i);
  else if (row->v[DOUBLE].type == CELL_REAL) args_double(r->d.t, key, row->v[DOUBLE].d);
  else if (row->v[FLOAT].type == CELL_REAL) args_double(r->d.t, key, row->v[FLOAT].d);
}

/* Adds args for the binary payload as its schema describes them. If a part of the payload cannot be read, also adds its raw bytes. */
static void add_binary(struct nsys *r, const struct sqlite_scan *row) {
  const struct cell *data = &row->v[BINARY];
  const uint32_t *domain = map_get(&r->domains, domain_key(row));
  if (data->type == CELL_NULL || payload_args(r, data, domain ? tk_string(r->d.t, *domain, NULL) : "")) return;
  const tk_id key = trace_text(r->d.t, "binaryData");
  trace_note(r->d.t, TK_NOTE_FACT, UINT64_MAX, "NVTX payloads that are not read completely: their bytes are in the arg binaryData");
  if (data->type == CELL_BLOB) args_str(r->d.t, key, TK_ARG_BYTES, trace_string(r->d.t, data->p, data->n));
  else database_text_arg(&r->d, &r->texts, key, data);
}

static uint32_t event_args(struct nsys *r, const struct sqlite_scan *row, const struct torch_range *range, bool async) {
  args_begin(r->d.t);
  torch_range_args(r->d.t, range);
  if (number(row, DOMAIN_ID)) add_name(r, "domain", map_get(&r->domains, domain_key(row)));
  if (row->v[CATEGORY_ID].type == CELL_INT) {
    const uint32_t *name = map_get(&r->categories, category_key(row));
    if (name) add_name(r, "category", name);
    else if (number(row, CATEGORY_ID)) args_int(r->d.t, trace_text(r->d.t, "category"), number(row, CATEGORY_ID));
  }
  add_payload(r, row);
  const struct cell *json = row->v[JSON_TEXT].type == CELL_TEXT ? &row->v[JSON_TEXT] : &row->v[JSON_ID];
  database_text_arg(&r->d, &r->texts, trace_text(r->d.t, "json"), json);
  if (number(row, COLOR)) args_int(r->d.t, trace_text(r->d.t, "color"), number(row, COLOR));
  if (async) args_int(r->d.t, trace_text(r->d.t, "end tid"), number(row, END_GLOBAL_TID) & 0xffffff);
  if (async) args_int(r->d.t, KEY_ID, number(row, RANGE));
  else if (is_started(number(row, TYPE))) args_int(r->d.t, trace_text(r->d.t, "range id"), number(row, RANGE));
  add_binary(r, row);
  return args_end(r->d.t);
}

static bool is_mark(int64_t type) { return type == MARK || type == MARK_OF_TEXT; }
static bool is_event(int64_t type) { return is_mark(type) || is_started(type) || type == PUSHED || type == PUSHED_IN_TEXT; }

/* True for a range that ended on another thread. The column of the other thread is empty if it is the same. */
static bool is_async(const struct sqlite_scan *row) {
  const int64_t ended = number(row, END_GLOBAL_TID);
  return is_started(number(row, TYPE)) && ended && ended != number(row, GLOBAL_TID);
}

static tk_id track_of(struct nsys *r, const struct sqlite_scan *row, bool async) {
  const int64_t thread = number(row, GLOBAL_TID);
  if (!async) return tracks_thread(r, thread);
  return trace_track(r->d.t, TK_TRACK_ASYNCS, ident_int(nsys_pid(nsys_process_of(thread))), ident_int(thread & 0xffffff), 0);
}

static void take_event(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  const int64_t type = number(row, TYPE);
  const bool async = is_async(row);
  struct tk_event e = {.kind = is_mark(type) ? TK_EVENT_INSTANT : TK_EVENT_SPAN, .flags = async
                       ? TK_FLAG_ASYNC | TK_FLAG_PAIRED | TK_FLAG_END_NAMED : 0};
  struct torch_range range;
  tk_time end;
  if (!is_event(type)) return;
  if (!database_time(&r->d, &row->v[START], &e.ts)) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "NVTX events without a usable start time: skipped");
    r->d.t->counts.dropped++;
    return;
  }
  e.track = track_of(r, row, async);
  e.cls = torch_range_class(r->d.t, text_of(r, row), trace_text(r->d.t, "nvtx"), &range);
  const bool ends = database_time(&r->d, &row->v[END], &end);
  if (e.kind == TK_EVENT_SPAN && !ends) e.kind = TK_EVENT_BEGIN; /* without an end time: the process died before the range ended */
  if (e.kind == TK_EVENT_SPAN && end > e.ts) e.dur = end - e.ts;
  e.args = event_args(r, row, &range, async);
  *trace_add_event(r->d.t) = e;
  nccl_note(r, &e);
}

/* ---- tables ---- */

bool nvtx_knows(const char *table) {
  static const char NAME[] = "NVTX_EVENTS";
  const char *version = table + sizeof NAME - 1;
  if (!text_begins(table, NAME)) return false;
  return !*version || (text_begins(version, "_V") && version[2] && !version[2 + strspn(version + 2, "0123456789")]);
}

/* Returns the last table of NVTX events that has the columns of a range; NULL if there is none. */
static const char *find_table(const struct sqlite *db) {
  const char *found = NULL;
  const struct sqlite_table *t;
  for (size_t i = 0; (t = sqlite_row(db, i)) != NULL; i++) {
    const bool fits = sqlite_column(t, COLUMNS[START]) >= 0 && sqlite_column(t, COLUMNS[TYPE]) >= 0;
    if (fits && nvtx_knows(t->name) && (!found || strcmp(t->name, found) > 0)) found = t->name;
  }
  return found;
}

bool nvtx_read(struct nsys *r) {
  const char *table = find_table(r->d.db);
  if (!schemas_read(r)) return false;
  return !table || (database_each(&r->d, table, COLUMNS, take_name, r) && database_each(&r->d, table, COLUMNS, take_event, r));
}
