/* read.c - the file level of Chrome JSON: one pass, no tree, no recursion.
 *
 *     [ event, event ]                                      array form: the closing bracket is optional
 *     { "key": value, "traceEvents": [ event ], "key": value }   object form: keys in any order, before and after the events
 *     event \n event \n                                     one event per line
 *
 * Events are read one at a time from a window that contains at least the whole event. A damaged event is skipped up to the next
 * position that looks like the start of one. The search continues at the position of the damage, so that reading takes linear time. */
#include <string.h>

#include "read.h"
#include "format/chrome/chrome.h"
#include "reader.h"
#include "meta.h"
#include "lanes.h"
#include "finish.h"
#include "samples.h"
#include "timed_names.h"
#include "event.h"
#include "chunks.h"
#include "format/format.h"
#include "io/joined.h"

enum { WINDOW = 1 << 16 };

/* ---- the window ---- */

/* Provides a larger window that starts at p, after JSON_MORE. */
static bool widen(struct chrome *r, const uint8_t *p) {
  size_t have = (size_t)(r->j.end - p);
  r->j.status = JSON_OK;
  r->j.n_fixes = 0;
  return chrome_refill(r, p, have < WINDOW ? WINDOW : have * 2);
}

static bool corrupt(struct chrome *r, const uint8_t *at, const char *why) {
  uint64_t offset = chrome_offset(r, at);
  if (!mem_check(&r->t->store->mem, r->err)) return false; /* running out of memory is not damage */
  return err_at(r->err, TK_ECORRUPT, offset, "%s at byte %llu", why, (unsigned long long)offset);
}

enum { NUL_BYTE = 256 };

/* Skips whitespace and returns the byte at j.p; NUL_BYTE if it is zero, 0 at the end of the input, -1 on an error. */
static int peek_plain(struct chrome *r) {
  for (;;) {
    while (json_is_space(*r->j.p)) r->j.p++;
    if (r->j.p < r->j.end) return *r->j.p ? *r->j.p : NUL_BYTE;
    if (r->j.last) return 0;
    if (!chrome_refill(r, r->j.p, WINDOW)) return -1;
  }
}

/* True if a comment may start at j.p. A line comment directly after other text is not accepted: its first character is then damage,
 * such as a changed comma. */
static bool may_comment(const struct chrome *r, int c) {
  if (c != '/' && c != '#') return false;
  return r->j.p[1] == '*' || r->j.p == r->base || json_is_space(r->j.p[-1]);
}

/* Same as peek_plain, but also skips comments, which standard JSON does not allow. */
static int peek(struct chrome *r) {
  enum { MOST = 1 << 20 }; /* longest comment; a longer one counts as damage */
  for (;;) {
    const int c = peek_plain(r);
    if (c < 0 || !may_comment(r, c)) return c;
    const uint8_t *end = json_comment_end(r->j.p, r->j.end, r->j.last);
    if (!end && (r->j.last || r->j.end - r->j.p > MOST)) return c;
    if (!end && !widen(r, r->j.p)) return -1;
    if (!end) continue;
    chrome_note(r, TK_NOTE_REPAIR, r->j.p, "comment outside of events: skipped");
    r->j.p = end;
  }
}

/* ---- damage ---- */

/* Moves j.p to the first position from p on where an event seems to start; to j.end if there is none. Returns false on a read
 * error. */
static bool resync(struct chrome *r, const uint8_t *p) {
  for (;;) {
    for (; p < r->j.end; p++) {
      if (*p != '{') continue;
      if (r->j.end - p < 256 && !r->j.last) break;
      if (chrome_looks_like_event(p, r->j.end)) {
        r->j.p = p;
        return true;
      }
    }
    if (r->j.last) {
      r->j.p = r->j.end;
      return true;
    }
    if (!chrome_refill(r, p, WINDOW)) return false;
    p = r->j.p;
  }
}

/* Skips an event that cannot be read, and notes its position and length. */
static bool skip_damage(struct chrome *r) {
  char text[160] = "damaged event skipped: ";
  uint64_t from = chrome_offset(r, r->j.at);
  strncat(text, r->j.why, sizeof text - strlen(text) - 1);
  trace_note(r->t, TK_NOTE_REPAIR, from, text);
  r->t->counts.dropped++;
  r->j.status = JSON_OK;
  r->j.n_fixes = 0;
  return resync(r, r->j.at > r->j.p ? r->j.at : r->j.p + (r->j.p < r->j.end && r->j.at == r->at));
}

/* ---- events ---- */

static bool cut_short(struct chrome *r, const uint8_t *at) {
  chrome_note(r, TK_NOTE_REPAIR, at, "truncated inside an event: that event is lost");
  r->t->truncated = true;
  r->t->counts.dropped++;
  r->j.p = r->j.end;
  r->j.status = JSON_OK;
  r->j.n_fixes = 0;
  return true;
}

/* Reads the event whose brace is at j.p. */
static bool one_event(struct chrome *r) {
  for (;;) {
    const uint8_t *from = r->j.p;
    bool ok = chrome_event(r);
    if (ok) {
      r->t->counts.read++;
      chrome_keep_fixes(r);
      return true;
    }
    if (r->err->code != TK_OK) return false;
    if (r->j.status == JSON_BAD && r->j.last && r->j.at >= r->j.end) return cut_short(r, from);
    if (r->j.status == JSON_BAD) return skip_damage(r);
    if (!widen(r, from)) return false;
  }
}

/* Handles an element of the events array that is not an object. Bytes that are not a JSON value are treated as the remainder of a
 * damaged event. */
static bool odd_element(struct chrome *r, int c) {
  const uint8_t *from = r->j.p;
  if (c != NUL_BYTE && !strchr("\"-0123456789tfnTFN[", c)) {
    r->j.at = r->at = from;
    r->j.why = "text between events";
    return skip_damage(r);
  }
  if (c == NUL_BYTE) { /* a page that was never written to disk */
    chrome_note(r, TK_NOTE_REPAIR, from, "NUL bytes skipped");
    while (r->j.p < r->j.end && *r->j.p == 0) r->j.p++;
    return true;
  }
  while (!json_skip(&r->j) || r->j.p == from) {
    if (r->j.status == JSON_OK || r->j.status == JSON_BAD) {
      r->j.status = JSON_OK;
      return resync(r, r->j.p + (r->j.p < r->j.end));
    }
    if (!widen(r, from)) return false;
    from = r->j.p;
  }
  chrome_note(r, TK_NOTE_REPAIR, from, "element of the events array that is not an object: skipped");
  r->t->counts.dropped++;
  return true;
}

/* Skips commas between events, with a note unless there is exactly one. *c: the next byte, as peek returns it. */
static bool commas(struct chrome *r, bool first, int *c) {
  unsigned n = 0;
  const uint8_t *at = r->j.p;
  while ((*c = peek(r)) == ',') {
    n++;
    r->j.p++;
  }
  if (*c < 0) return false;
  at = r->j.p;
  if (n && *c == ']' && !first && n == 1) chrome_note(r, TK_NOTE_INFO, at, "comma before a closing bracket");
  else if (n > 1 || (n && first)) chrome_note(r, TK_NOTE_REPAIR, at, "duplicate comma between events");
  else if (!n && !first && *c == '{') chrome_note(r, TK_NOTE_REPAIR, at, "missing comma between events");
  return true;
}

/* Reads the events after j.p that are spelled like earlier ones, with several threads if that pays. False on an error. */
static bool read_alike(struct chrome *r) {
  chrome_predicted_events(r);
  return !chrome_chunks_are_due(r) || chrome_chunks_read(r);
}

enum array_end { ARRAY_ERROR, ARRAY_CLOSED, ARRAY_CUT };

/* Reads the events array, from after its bracket to after its end. */
static enum array_end read_events(struct chrome *r) {
  bool first = true;
  int c;
  for (;; first = false) {
    if (!first && !read_alike(r)) return ARRAY_ERROR;
    if (!commas(r, first, &c)) return ARRAY_ERROR;
    if (c == 0 || c == IN_PIECE) return ARRAY_CUT;
    if (c == ']') {
      r->j.p++;
      return ARRAY_CLOSED;
    }
    if (c == '[' && first) {
      corrupt(r, r->j.p, "array inside the events array (several traces joined by hand? tracekit merge combines separate files)");
      return ARRAY_ERROR;
    }
    if (c == '{' ? !one_event(r) : !odd_element(r, c)) return ARRAY_ERROR;
  }
}

/* ---- the object around the events ---- */

static struct tk_meta *keep_meta(struct chrome *r, tk_id key, bool after) {
  struct buf *raw = &r->t->store->raw;
  size_t at = raw->len;
  struct tk_meta *m;
  uint32_t *slot;
  const uint8_t *from = r->j.p;
  while (!json_copy(&r->j, raw)) {
    raw->len = at;
    if (r->j.status != JSON_MORE || !widen(r, from)) return NULL;
    from = r->j.p;
  }
  chrome_keep_fixes(r);
  slot = map_put(&r->metas, key, 0);
  if (slot && *slot) chrome_note(r, TK_NOTE_INFO, from, CHROME_GIVEN_TWICE);
  m = slot && *slot ? &r->t->metas[*slot] : trace_add_meta(r->t);
  if (slot && !*slot) *slot = r->t->n_metas;
  *m = (struct tk_meta){.key = key, .at = at, .size = raw->len - at, .after = after};
  trace_end_raw(r->t);
  return m;
}

/* Returns the member's key at j.p as a string id. */
static bool member_key(struct chrome *r, tk_id *key) {
  struct json_string s;
  const uint8_t *from = r->j.p;
  while (!json_key(&r->j, &s)) {
    if (r->j.status != JSON_MORE || !widen(r, from)) return false;
    from = r->j.p;
  }
  *key = chrome_string(r, &s);
  return true;
}

struct object_state {
  bool events; /* an events array was found */
  bool nested; /* "traceEvents" was found at a deeper level */
  bool is_outer;
};

static bool members_cut(struct chrome *r, const struct object_state *o) {
  if (r->err->code != TK_OK || !o->events) return false;
  chrome_note(r, TK_NOTE_REPAIR, r->j.p < r->j.end ? r->j.p : r->j.end, "truncated after the events: the rest is lost");
  r->t->truncated = true;
  r->j.status = JSON_OK;
  r->j.p = r->j.end;
  return true;
}

static bool events_member(struct chrome *r, struct object_state *o) {
  int c = peek(r);
  enum array_end end;
  if (c < 0) return false;
  if (c != '[') return corrupt(r, r->j.p, "\"traceEvents\" is not an array");
  if (o->events) chrome_note(r, TK_NOTE_REPAIR, r->j.p, "duplicate \"traceEvents\": all are read");
  o->events = true;
  r->j.p++;
  end = read_events(r);
  if (end == ARRAY_CUT) {
    chrome_note(r, TK_NOTE_REPAIR, r->j.end, "truncated: the events array is not closed");
    r->t->truncated = true;
  }
  return end != ARRAY_ERROR;
}

/* True if the object at p has an events array before any other array or object. */
static bool holds_events(const uint8_t *p, const uint8_t *end) {
  bool is_key = false;
  for (p++; p < end && *p && !strchr("[{}", *p); p++) {
    if (*p != '"') continue;
    const uint8_t *from = ++p;
    for (; p < end && *p != '"'; p++) p += *p == '\\';
    is_key = p < end && p - from == 11 && memcmp(from, "traceEvents", 11) == 0;
  }
  return is_key && p < end && *p == '[';
}

static bool read_object(struct chrome *r, bool is_outer);

/* Reads the value of a member if it is itself a trace (*is_inner): Flutter's integration_test writes several timelines into one
 * object. */
static bool inner_trace(struct chrome *r, struct object_state *o, bool *is_inner) {
  const int c = peek(r);
  if (c == '{' && !r->j.last && r->j.end - r->j.p < WINDOW && !chrome_refill(r, r->j.p, WINDOW)) return false;
  *is_inner = c == '{' && holds_events(r->j.p, r->j.end);
  if (!*is_inner) return c >= 0;
  chrome_note(r, TK_NOTE_REPAIR, r->j.p, "the array of events is inside another object: read from there");
  o->events = true;
  return read_object(r, false);
}

static bool read_member(struct chrome *r, struct object_state *o) {
  tk_id key;
  bool is_inner = false;
  if (!member_key(r, &key)) return false;
  if (o->is_outer && (!inner_trace(r, o, &is_inner) || is_inner)) return is_inner && r->err->code == TK_OK;
  if (strcmp(tk_string(r->t, key, NULL), "traceEvents") == 0) return events_member(r, o);
  const struct tk_meta *m = peek(r) < 0 ? NULL : keep_meta(r, key, o->events);
  if (!m) return false;
  const char *text = trace_raw(r->t, m->at);
  for (size_t i = 0; !o->events && !o->nested && i + 14 < m->size && i < 4096; i++)
    o->nested = memcmp(text + i, "\"traceEvents\":", 14) == 0;
  return true;
}

static bool no_events(struct chrome *r, const struct object_state *o) {
  if (r->err->code != TK_OK) return false;
  if (r->j.status == JSON_BAD) return corrupt(r, r->j.at, r->j.why);
  if (o->nested) return corrupt(r, r->base, "no \"traceEvents\" at the top level (found inside another value)");
  return corrupt(r, r->j.p, "JSON, but not a trace: no \"traceEvents\" array");
}

static bool read_object(struct chrome *r, bool is_outer) {
  struct object_state o = {.is_outer = is_outer};
  int c;
  r->j.p++;
  for (;;) {
    c = peek(r);
    if (c == ',') {
      r->j.p++;
      if ((c = peek(r)) == '}') chrome_note(r, TK_NOTE_INFO, r->j.p, "comma before a closing bracket");
    }
    if (c < 0) return false;
    if (c == '}') {
      r->j.p++;
      return o.events || no_events(r, &o);
    }
    if (c == 0 || c == IN_PIECE) {
      if (!o.events) return no_events(r, &o);
      if (!r->t->truncated) chrome_note(r, TK_NOTE_REPAIR, r->j.end, "truncated: the object around the events array is not closed");
      r->t->truncated = true;
      return true;
    }
    if (!read_member(r, &o)) return members_cut(r, &o) || no_events(r, &o);
  }
}

/* ---- the file ---- */

/* Handles text after the end: whitespace and zeros are padding, another document is an error, anything else is reported and
 * ignored. */
static bool read_tail(struct chrome *r) {
  int c = peek(r);
  const uint8_t *from = r->j.p;
  if (c <= 0 || c == IN_PIECE) return c >= 0;
  if (c == '{' || c == '[')
    return corrupt(r, from, "a second JSON document follows (files joined by cat? tracekit merge combines separate files)");
  chrome_note(r, TK_NOTE_REPAIR, from,
              c == NUL_BYTE ? "zeros after the end of the trace: ignored" : "text after the end of the trace: ignored");
  return true;
}

/* True if another object with an array of events follows, and the first object has the unit "us". Only Proton writes such
 * files: triton third_party/proton/csrc/lib/Data/TraceData.cpp writes an object for each stream, one per line. */
static bool has_next_stream(struct chrome *r) {
  const struct tk_meta *unit = trace_meta(r->t, "displayTimeUnit");
  if (!unit || unit->size != 4 || memcmp(trace_raw(r->t, unit->at), "\"us\"", 4) != 0) return false;
  if (peek(r) != '{' || (!r->j.last && r->j.end - r->j.p < WINDOW && !chrome_refill(r, r->j.p, WINDOW))) return false;
  return holds_events(r->j.p, r->j.end);
}

static bool read_objects(struct chrome *r) {
  bool ok = read_object(r, true);
  while (ok && has_next_stream(r)) {
    chrome_note(r, TK_NOTE_INFO, r->j.p, "several JSON objects, one for each stream: all are read");
    ok = read_object(r, true);
  }
  return ok && r->err->code == TK_OK && read_tail(r);
}

static bool read_lines(struct chrome *r) {
  int c;
  chrome_note(r, TK_NOTE_INFO, r->j.p, "one event per line, without an enclosing array: read line by line");
  r->lines = true;
  while ((c = peek(r)) != 0) {
    if (c < 0) return false;
    if (c == ',') {
      r->j.p++;
      continue;
    }
    if (c == '{' ? !one_event(r) : !odd_element(r, c)) return false;
    if (!read_alike(r)) return false;
  }
  return true;
}

/* True if the first members of the object belong to an event. Then the file has one event per line instead of "traceEvents". */
static bool is_lines(struct chrome *r) {
  struct json j = r->j;
  struct json_string key;
  bool ph = false;
  for (j.p++; json_blank(&j) && *j.p != '}'; j.p += *j.p == ',') {
    if (!json_key(&j, &key) || json_is(&j, &key, "traceEvents")) break;
    ph = ph || json_is(&j, &key, "ph");
    if (!json_blank(&j) || !json_skip(&j) || !json_blank(&j)) break;
  }
  r->j.scratch = j.scratch;
  return ph && j.status == JSON_OK && *j.p == '}';
}

static bool wrong_start(struct chrome *r, int c) {
  const uint8_t *p = r->j.p;
  if (c == 0) return err_set(r->err, TK_EFORMAT, r->base_offset || p > r->base ? "no JSON value: only "
                                                                                 "whitespace" : "empty file");
  while (p < r->j.end && *p != '{' && *p != '[') p++;
  if (p < r->j.end && *r->j.p != '<')
    return err_at(r->err, TK_EFORMAT, chrome_offset(r, p), "text before the JSON, which seems to start at byte %llu",
                  (unsigned long long)chrome_offset(r, p));
  return err_set(r->err, TK_EFORMAT, "not JSON");
}

/* Reads an array of events. Some producers append events after its end, such as torch_npu when it is interrupted. */
static bool read_array(struct chrome *r) {
  enum array_end end;
  for (;;) {
    r->j.p++;
    end = read_events(r);
    if (end != ARRAY_CLOSED) return end == ARRAY_CUT;
    if (peek(r) != ',') return read_tail(r);
    chrome_note(r, TK_NOTE_REPAIR, r->j.p, "comma after the end of the events array: reading continues");
  }
}

static bool read_document(struct chrome *r) {
  int c;
  if (!chrome_refill(r, r->j.p, WINDOW)) return false;
  if (r->j.end - r->j.p >= 3 && memcmp(r->j.p, "\xef\xbb\xbf", 3) == 0) {
    chrome_note(r, TK_NOTE_INFO, r->j.p, "UTF-8 byte order mark: skipped");
    r->j.p += 3;
  }
  c = peek(r);
  if (c < 0) return false;
  if (c == '{' && is_lines(r)) return read_lines(r);
  if (c == '{') return read_objects(r);
  if (c != '[') return wrong_start(r, c);
  r->is_bare = true;
  return read_array(r);
}

/* Reads the file. If it was joined from several pieces, each piece is a document. */
static bool read_file(struct chrome *r) {
  while (read_document(r)) {
    if (!in_is_joined(r->in) || peek(r) != IN_PIECE) return true;
    r->j.p++;
  }
  return false;
}

/* Returns false with err if the objects of a bare array are not events; otherwise any array of objects would count as a trace
 * of records. */
static bool refuse_others(const struct chrome *r) {
  const struct tk_trace *t = r->t;
  const bool other = r->is_bare && t->n_records && t->n_records == t->counts.by_phase[0];
  if (!other || t->n_events || t->n_flow_points || t->store->left_points) return true;
  return err_set(r->err, TK_EFORMAT, "not a trace: its JSON objects have no phase (\"ph\")");
}

bool chrome_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_load_options whole = *opt;
  struct chrome r = {.t = t, .in = in, .opt = &whole, .err = err};
  if (in_is_joined(in)) whole.threads = 1; /* a chunk must not extend beyond the end of its file */
  struct mem *mem = &t->store->mem;
  bool ok = chrome_reader_init(&r) && chrome_chunks_start(&r);
  ok = ok && read_file(&r);
  chunks_stop(r.chunks);
  ok = mem_check(mem, err) && ok && refuse_others(&r);
  if (ok) {
    t->counts.bytes = chrome_offset(&r, r.j.end);
    chrome_finish(&r);
    chrome_samples(&r);
    chrome_settle_lanes(&r);
    chrome_meta(&r);
    chrome_untime_names(t);
  }
  chrome_reader_free(&r);
  return ok;
}
