/* reader.h - interface between the files of the Chrome JSON reader.
 *
 *     read.c     the file: array or object form, top-level keys, resynchronisation, finishing
 *     chunks.c         reading events with several threads
 *     event.c         one event by the general path: any key order, any repair
 *     template.c       one event by the predicted path: the same fields from spellings seen before
 *     phase.c          the fields of one event -> graph: the meaning of phases
 *     meta.c          interpretation of top-level data
 *     record.c        events that are kept raw, and the track names in them
 *     samples.c       stack samples in such events
 *     stack_frames.c  top-level stackFrames
 *     lanes.c         threads that are lanes of another thread
 *     spelling.c      numbers in quotes, and more digits than times can store
 *
 * Both paths fill the same struct chrome_event and use the same chrome_add_event, so they agree on its meaning. */
#ifndef FORMAT_CHROME_READ_READER_H
#define FORMAT_CHROME_READ_READER_H

#include "graph/trace.h"
#include "io/in.h"
#include <string.h>

#include "format/chunks.h"
#include "format/json.h"
#include "lanes.h"

/* A time in microseconds that was read from JSON, converted to ps. */
enum when_kind { WHEN_NONE, WHEN_OK, WHEN_BAD };
struct when {
  enum when_kind kind;
  bool quoted;
  bool rounded; /* has digits that cannot be stored */
  uint8_t decimals; /* number of decimals if the time is quoted and ends with a 0; otherwise 0 */
  i128 ps;
};

/* One event. Args and unknown fields are in the trace's arg builder (general path) or packed (predicted path). */
struct chrome_event {
  uint8_t ph;      /* 0 = missing, or not one character */
  bool has_id, has_id2, has_scope, flow_in, flow_out, has_bind_id, empty;
  bool has_args;   /* "args" was an object */
  bool enclosing;  /* "bp":"e" */
  tk_id name, cat;
  tk_id id2;       /* text of the object "id2"; 0 = absent */
  tk_id s;         /* scope of an instant; 0 = absent */
  tk_id bp;        /* 0 = absent */
  struct tk_ident pid, tid;
  struct when ts, dur, tdur;
  struct tk_arg dur_arg; /* original value of dur, if it is WHEN_BAD */
  struct tk_arg id;
  struct tk_arg bind_id;
  uint64_t offset;
  size_t own_args; /* bytes of packed args before the extra args */
};

/* Items that get their time at the end of the file: events and flow points more than 100 days from the origin, and records that
 * precede the first event. Until then, the text of such a record ends with its ts (`size` bytes). */
enum pending_kind { PENDING_EVENT, PENDING_FLOW, PENDING_RECORD };
struct pending {
  i128 ps;
  uint32_t at;
  uint32_t size;
  enum pending_kind kind;
};

/* Time of a flow point that has not been placed yet. */
#define PENDING_TS INT64_MIN

struct templates;

struct chrome {
  struct tk_trace *t;
  struct in *in;
  struct tk_err *err;
  const struct tk_load_options *opt;
  struct json j;
  const uint8_t *base; /* start of the window */
  const uint8_t *at;   /* the current event */
  uint64_t base_offset;
  struct intern raw; /* spellings of nested values and escaped strings -> id of their text, through raw_ids */
  uint32_t *raw_ids;
  uint32_t cap_raw_ids;
  struct buf text;  /* scratch */
  struct map metas; /* top-level key -> meta: the last value of a repeated key counts */
  bool has_origin;
  int64_t origin_ns; /* origin of the graph's times */
  i128 origin_ps;    /* origin in the file's own times, which differs from origin_ns if these times exceed 64 bits of nanoseconds */
  tk_time start;     /* time of the first of the `n_started` events, relative to the origin; found at the end */
  tk_id n_started;
  struct pending *pending;
  uint32_t n_pending, cap_pending;
  struct templates *templates; /* NULL = general path only */
  struct chunks *chunks;       /* NULL = one thread */
  bool lines;                  /* one event per line: commas between events are optional */
  bool is_bare;                /* the document is an array of events, not an object that contains one */
  bool apart;                  /* reading a chunk into a fragment, which accepts only events and flow points */
  struct {
    struct tk_ident pid, tid;
    tk_id track;
  } tracks[64]; /* recently used threads */
  struct map lanes; /* threads whose events belong to another thread: hash of pid and tid -> track of that thread (lanes.h) */
  struct {
    tk_id name, cat, cls;
  } classes[1024]; /* recently used classes, by name */
};

#define CHROME_GIVEN_TWICE "duplicate key: the last value is used"

static inline uint64_t chrome_offset(const struct chrome *r, const uint8_t *p) { return r->base_offset + (uint64_t)(p - r->base); }
void chrome_note(struct chrome *r, enum tk_note_kind kind, const uint8_t *at, const char *text);

/* Returns the string id of any string, decoded and repaired. */
tk_id chrome_string(struct chrome *r, const struct json_string *s);
/* Stores the text of a nested value for this spelling, in raw_ids[intern_id(&r->raw, p, n)]. */
void chrome_learn_spelling(struct chrome *r, const uint8_t *p, size_t n, tk_id id);

/* Discards everything before p and provides a window of at least `min` bytes, or of all that is left (then j.last is set). Returns
 * false with err if reading fails, memory runs out or the caller wants to stop. */
bool chrome_refill(struct chrome *r, const uint8_t *p, size_t min);
/* Reports progress; returns false with err if the caller wants to stop. */
bool chrome_tick(struct chrome *r);
/* Turns repairs by the scanner into notes. */
void chrome_keep_fixes(struct chrome *r);
/* True if an event seems to start at p ("{", whitespace, a key that events start with). */
bool chrome_looks_like_event(const uint8_t *p, const uint8_t *end);
/* Skips whitespace and the comma between events; returns false, with j.p undefined, if something else follows. */
static inline bool chrome_between(struct chrome *r) {
  while (json_is_space(*r->j.p)) r->j.p++;
  if (*r->j.p != ',') return r->lines;
  r->j.p++;
  while (json_is_space(*r->j.p)) r->j.p++;
  return true;
}

/* Converts a pid or tid that was a string; digits become an integer. */
struct tk_ident chrome_ident(const struct chrome *r, tk_id text);
/* Queues an item for chrome_finish. */
void chrome_add_pending(struct chrome *r, struct pending f);

/* ---- inlined for every event ---- */

/* An event this far (100 days) from the origin has lost its clock; tk_time has a range of 106 days. */
#define CHROME_FAR_PS ((i128)100 * 86400 * 1000000000000)

/* Makes a time relative to the origin; the first time becomes the origin. Returns false if the time is too far from the origin, and
 * therefore on another clock. */
static inline bool chrome_relative(struct chrome *r, i128 ps, tk_time *out) {
  i128 delta;
  if (!r->has_origin) {
    i128 ns = ps >= 0 ? ps / 1000 : -((999 - ps) / 1000);
    r->has_origin = true;
    r->origin_ns = ns > INT64_MAX || ns < INT64_MIN ? 0 : (int64_t)ns;
    r->origin_ps = ns * 1000;
  }
  delta = ps - r->origin_ps;
  if (delta >= CHROME_FAR_PS || delta <= -CHROME_FAR_PS) return false;
  *out = (tk_time)delta;
  return true;
}

static inline tk_id chrome_thread(struct chrome *r, struct tk_ident pid, struct tk_ident tid) {
  unsigned at = (unsigned)(((uint64_t)pid.num * 31 + (uint64_t)tid.num + pid.str * 7 + tid.str) & 63);
  if (r->tracks[at].track && memcmp(&r->tracks[at].pid, &pid, sizeof pid) == 0 && memcmp(&r->tracks[at].tid, &tid, sizeof tid) == 0)
    return r->tracks[at].track;
  r->tracks[at].pid = pid;
  r->tracks[at].tid = tid;
  return r->tracks[at].track = chrome_find_thread(r, pid, tid);
}

/* A direct-mapped cache in front of trace_class: saves 4% of the time to read. */
static inline tk_id chrome_class(struct chrome *r, tk_id name, tk_id cat) {
  unsigned at = name & 1023;
  if (r->classes[at].cls && r->classes[at].name == name && r->classes[at].cat == cat) return r->classes[at].cls;
  r->classes[at].name = name;
  r->classes[at].cat = cat;
  return r->classes[at].cls = trace_class(r->t, name, cat);
}

/* ---- prediction (template.c) ---- */

/* Kinds of values between two literals. Kinds up to OP_DECIMAL are numbers, later kinds strings and nested values. OP_INT to
 * OP_NESTED are args; OP_ANY_... are args that the caller does not need. */
enum template_op {
  OP_END, OP_TS, OP_DUR, OP_PID, OP_TID, OP_ID, OP_ANY_NUMBER, OP_INT, OP_DECIMAL, OP_STR, OP_NESTED, OP_NAME, OP_PID_STR, OP_TID_STR,
  OP_ID_STR, OP_ANY_TEXT
};

#endif
