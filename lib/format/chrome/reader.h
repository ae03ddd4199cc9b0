/* reader.h - what the files of the Chrome JSON reader share.
 *
 *     read.c     the file: array or object form, top-level keys, resynchronising, what is finished at the end
 *     read_chunks.c    events that several threads read
 *     read_event.c    one event by the general path: any key order, any repair
 *     read_template.c  one event by the predicted path: the same fields from bytes that were seen before
 *     read_phase.c     the fields of one event -> graph: what the phases mean
 *     read_meta.c     top-level data that means something here
 *     read_record.c   events that are kept raw, and the track names that they carry
 *     read_lanes.c    threads that are rows of another one
 *     spelling.c      numbers in quotes, and more digits than times have
 *
 * Both paths fill the same struct chrome_event and go through the same chrome_add_event, so they cannot mean different things. */
#ifndef FORMAT_CHROME_READER_H
#define FORMAT_CHROME_READER_H

#include "graph/trace.h"
#include "io/in.h"
#include <string.h>

#include "format/chunks.h"
#include "format/json.h"

/* A JSON number as a time in microseconds. */
enum when_kind { WHEN_NONE, WHEN_OK, WHEN_BAD };
struct when {
  enum when_kind kind;
  bool quoted;
  bool rounded; /* it has digits that are not kept */
  i128 ps;
};

/* One event as it was read.  Args and unknown fields are in the trace's arg builder (general path) or packed (predicted). */
struct chrome_event {
  uint8_t ph;      /* 0 = missing or not one character */
  bool has_id, has_id2, has_scope, flow_in, flow_out, has_bind_id, empty;
  bool has_args;   /* "args" was an object */
  bool enclosing;  /* "bp":"e" */
  tk_id name, cat;
  tk_id s;         /* scope of an instant, 0 = absent */
  tk_id bp;        /* 0 = absent */
  struct tk_ident pid, tid;
  struct when ts, dur;
  struct tk_arg dur_arg; /* what dur was, if it is WHEN_BAD */
  struct tk_arg id;
  struct tk_arg bind_id;
  uint64_t offset;
  size_t own_args; /* bytes of packed args before those of chrome_extra_args */
};

/* What cannot be placed in time before the file has been read: events more than 100 days from the first one, and records that
 * stand before it, whose text ends with their ts (`size` bytes) until then. */
enum pending_kind { PENDING_EVENT, PENDING_FLOW, PENDING_RECORD };
struct pending {
  i128 ps;
  uint32_t at;
  uint32_t size;
  enum pending_kind kind;
};

/* The time of a flow point that is not placed yet. */
#define PENDING_TS INT64_MIN

struct templates;

struct chrome {
  struct tk_trace *t;
  struct in *in;
  struct tk_err *err;
  const struct tk_load_options *opt;
  struct json j;
  const uint8_t *base; /* start of the window */
  const uint8_t *at;   /* the event being read */
  uint64_t base_offset;
  struct intern raw; /* spellings of nested values and escaped strings -> their text's id, by raw_ids */
  uint32_t *raw_ids;
  uint32_t cap_raw_ids;
  struct buf text;  /* scratch */
  struct map metas; /* top-level key -> meta: of a key given twice the last value counts */
  bool has_origin;
  int64_t origin_ns; /* of the file's own times */
  struct pending *pending;
  uint32_t n_pending, cap_pending;
  struct templates *templates; /* NULL = general path only */
  struct chunks *chunks;       /* NULL = one thread */
  bool lines;                  /* one event per line: no comma need stand between events */
  bool apart;                  /* it reads a chunk into a fragment, which takes events and flow points alone */
  struct {
    struct tk_ident pid, tid;
    tk_id track;
  } tracks[64]; /* threads met last */
  struct map lanes; /* threads whose events are of another one: hash of pid and tid -> its track (lanes.h) */
  struct {
    tk_id name, cat, cls;
  } classes[1024]; /* classes met last, by name */
};

#define CHROME_GIVEN_TWICE "key given twice: the last value counts"

static inline uint64_t chrome_offset(const struct chrome *r, const uint8_t *p) { return r->base_offset + (uint64_t)(p - r->base); }
void chrome_note(struct chrome *r, enum tk_note_kind kind, const uint8_t *at, const char *text);

/* The string id of any string, decoded and repaired. */
tk_id chrome_string(struct chrome *r, const struct json_string *s);
/* Remembers the text that this spelling of a nested value was read as: raw_ids[intern_id(&r->raw, p, n)]. */
void chrome_learn_spelling(struct chrome *r, const uint8_t *p, size_t n, tk_id id);

/* Empty tables, and templates unless there shall be none; what they take is freed by the other. */
bool chrome_reader_init(struct chrome *r);
void chrome_reader_free(struct chrome *r);

/* Gives up everything before p and asks for a window of at least `min` bytes. */
bool chrome_refill(struct chrome *r, const uint8_t *p, size_t min);
/* Tells of progress; false, with err, if the caller says stop. */
bool chrome_tick(struct chrome *r);
/* What the reader repaired on the way becomes notes. */
void chrome_keep_fixes(struct chrome *r);
/* Does an event seem to begin at p ("{", blanks, a key that events begin with)? */
bool chrome_looks_like_event(const uint8_t *p, const uint8_t *end);
/* Passes the blanks and the comma that stand between events; false, and j.p is anywhere, if they do not. */
static inline bool chrome_between(struct chrome *r) {
  while (json_is_space(*r->j.p)) r->j.p++;
  if (*r->j.p != ',') return r->lines;
  r->j.p++;
  while (json_is_space(*r->j.p)) r->j.p++;
  return true;
}
/* Events spelled as those before them: reads as many of these as follow what j.p is behind. */
void chrome_predicted_events(struct chrome *r);

/* Reads the object at r->j.p.  On JSON_OK it is in the graph and j.p is behind it. */
bool chrome_event(struct chrome *r);

/* Adds what the phase keeps as args (id, scope, ...) to the builder: general path, before args_end. */
void chrome_extra_args(struct chrome *r, struct chrome_event *e);
/* The event's record in the graph.  `from` is its text, for what is kept raw. */
void chrome_add_event(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from);
/* A pid or tid that was a string: of digits, it is the integer. */
struct tk_ident chrome_ident(const struct chrome *r, tk_id text);
/* The thread with these ids, or the one that it is a lane of; chrome_thread asks for those that it has not met lately. */
tk_id chrome_find_thread(struct chrome *r, struct tk_ident pid, struct tk_ident tid);
/* Is the record a thread's name that says whose lane the thread is, or another one of a lane?  Then it is of no more use. */
bool chrome_is_of_lane(struct chrome *r, const struct chrome_event *e, uint32_t args);
/* Says of the tracks whether they may have lanes: in a file that was made of another format. */
void chrome_settle_lanes(struct chrome *r);
/* Is the event kept raw? */
bool chrome_is_record(const struct chrome_event *e);
/* Remembers it for chrome_finish. */
void chrome_add_pending(struct chrome *r, struct pending f);
/* Phases that become events or flow points; all others are kept as records. */
bool chrome_phase_known(uint8_t ph);
/* A series of a counter that is not a number has no sample. */
void chrome_drop_nan(struct chrome *r);
/* Keeps the members of the object at `from` but those that its track and time say. */
void chrome_record(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from);
/* Settles clocks when everything has been read. */
void chrome_finish(struct chrome *r);
/* What the top-level data says of the clock; what is odd about it becomes notes (read_meta.c). */
void chrome_meta(struct chrome *r);

/* ---- read_chunks.c ---- */

/* Several threads, if there is something for them; false when memory has run out.  chunks_stop ends them. */
bool chrome_chunks_start(struct chrome *r);
/* Is it worth to read what is behind j.p, which is behind an event, by several threads? */
bool chrome_chunks_are_due(const struct chrome *r);
/* Reads events until it comes to something else, or to the end of the input.  j.p is behind an event again. */
bool chrome_chunks_read(struct chrome *r);

/* ---- spelling.c ---- */

/* Is the time that is spelled so, in microseconds, another one than `ps`, which are kept of it? */
bool chrome_is_rounded(const uint8_t *p, const uint8_t *end, i128 ps);
/* ... that is mant x 10^exp? */
bool chrome_is_rounded_decimal(int64_t mant, int exp, i128 ps);
/* Counts the times of the event that are. */
void chrome_note_rounded(struct chrome *r, const struct chrome_event *e);
/* Members of the event, which is of the track, that are not spelled as others are: bits of enum tk_respelled. */
unsigned chrome_respelled(const struct chrome *r, const struct chrome_event *e, tk_id track);
/* The args, and what is respelled. */
uint32_t chrome_with_respelled(struct chrome *r, uint32_t args, unsigned respelled);

/* ---- in every event ---- */

/* What is further away than 100 days has lost its clock; tk_time holds 106. */
#define CHROME_FAR_PS ((i128)100 * 86400 * 1000000000000)

/* Time relative to the first one met; false if it is out of range, and so of another clock. */
static inline bool chrome_relative(struct chrome *r, i128 ps, tk_time *out) {
  i128 delta;
  if (!r->has_origin) {
    i128 ns = ps >= 0 ? ps / 1000 : -((999 - ps) / 1000);
    if (ns > INT64_MAX || ns < INT64_MIN) ns = 0;
    r->has_origin = true;
    r->origin_ns = (int64_t)ns;
  }
  delta = ps - (i128)r->origin_ns * 1000;
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

/* A direct-mapped cache in front of trace_class: 4% of reading. */
static inline tk_id chrome_class(struct chrome *r, tk_id name, tk_id cat) {
  unsigned at = name & 1023;
  if (r->classes[at].cls && r->classes[at].name == name && r->classes[at].cat == cat) return r->classes[at].cls;
  r->classes[at].name = name;
  r->classes[at].cat = cat;
  return r->classes[at].cls = trace_class(r->t, name, cat);
}

/* ---- prediction (read_template.c) ---- */

/* What stands between two literals: numbers up to OP_DECIMAL, then strings and nested values.  OP_INT to OP_NESTED are args, OP_ANY_...
 * those that nobody asks for. */
enum template_op {
  OP_END, OP_TS, OP_DUR, OP_PID, OP_TID, OP_ID, OP_ANY_NUMBER, OP_INT, OP_DECIMAL, OP_STR, OP_NESTED, OP_NAME, OP_PID_STR, OP_TID_STR,
  OP_ID_STR, OP_ANY_TEXT
};

struct templates *templates_new(struct mem *mem);
void templates_free(struct templates *p);
/* Reads the event at p if it is spelled like one before: the byte behind it, or NULL, and nothing has happened. */
const uint8_t *template_match(struct chrome *r, const uint8_t *p);
/* The general path tells what it reads, value by value, and that it has reached the end of an event worth predicting.  Without
 * templates (NULL) all four do nothing. */
void template_begin(struct templates *p, const uint8_t *from);
void template_value(struct templates *p, enum template_op op, const uint8_t *value, const uint8_t *end);
void template_abandon(struct templates *p);
void template_learn(struct templates *p, struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *end);

#endif
