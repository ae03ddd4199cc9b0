/* trace.h - builds the event graph: the functions that readers and operations call.
 *
 * A reader adds tracks, classes, args, events, flows and records in the order of its input, including unmatched TK_EVENT_BEGIN and
 * TK_EVENT_END events, and then calls seal (seal.h), which establishes the invariants. All functions that add something return its id
 * or address. When memory or ids run out they return 0 or the dummy in slot 0 of every array, which may be written to;
 * mem_check of the trace's memory reports the failure later. */
#ifndef GRAPH_TRACE_H
#define GRAPH_TRACE_H

#include "base/int128.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/num.h"
#include "base/varint.h"
#include "keys.h"
#include "warp.h"

#include <string.h>

struct tk_arg_shape {
  uint32_t id, n;
  struct shape_field {
    tk_id key;
    uint8_t type;
  } *fields;
};

/* Args under construction: keys, types and packed values. */
struct arg_builder {
  struct shape_field *fields;
  uint32_t n, cap;
  struct buf payload;
  uint32_t *stamps; /* by key: serial number of the last record that used the key; finds duplicates in O(1) */
  uint32_t n_stamps, serial;
  bool duplicates;
};

/* Order in the file of events first .. first+n-1 of a thread, which have the same time: their indices relative to `first` are in
 * tied[at .. at+n-1]. */
struct trace_tie {
  tk_id first;
  uint32_t n, at;
};

/* A range of time to which a trace was cut: start <= time < end. */
struct trace_cut {
  tk_time start, end;
};

/* A range of time to which the caller will cut the trace before saving it, in ps since the file's zero. Data that only the format
 * of the file understands need not be stored if it is outside of this range. */
struct trace_early {
  tk_time start, end;
  uint64_t n;   /* number of passthrough blocks that were left out, at least in part */
  uint64_t events, points; /* number of events and of flow points that were left out */
  bool asked;   /* a range is given */
  bool guessed;    /* something was left out whose absence later data may show to be wrong */
  bool is_certain; /* nothing may be left out that way */
  const char *format; /* name of the format in which the trace will be saved; NULL = the format of the file */
  bool failed;  /* the range was misjudged: the trace must be read again */
};

struct tk_store {
  struct mem mem;
  struct intern strings;
  uint32_t cap_events, cap_classes, cap_tracks, cap_flow_points, cap_records, cap_metas, cap_notes;
  struct tk_arg_shape **shapes; /* [1..n_shapes] */
  uint32_t n_shapes, cap_shapes;
  struct map shape_index; /* hash -> first shape with that hash; collisions continue at hash + 1 */
  struct buf pool;        /* packed args; offset 0 = none */
  struct arg_builder builder;
  struct map class_index; /* name, category -> class without shared args */
  struct map track_index; /* hash of identity -> track; collisions continue at hash + 1 */
  struct map owners;      /* track -> process that caused its contents, if the input names a process other than the track's */
  struct map owner_ranks; /* process -> 1 + rank, if the trace contains several ranks */
  struct buf raw;         /* raw text of records and metas */
  struct trace_tie *ties; /* sorted by `first` (seal_ties.c) */
  uint32_t *tied;
  uint32_t n_ties, cap_ties, n_tied, cap_tied;
  /* For fragments (fragment.h): number of strings and shapes that come from the other trace (UINT32_MAX = not a fragment), and
   * the packed args that contain ids which the fragment assigned itself (foreign). */
  uint32_t known_strings, known_shapes;
  struct foreign_args {
    uint32_t at, end, behind; /* `behind`: offset by which joining moved the records after this one, which ends at `end` */
  } *foreign;
  uint32_t n_foreign, cap_foreign;
  bool has_foreign; /* the args under construction contain foreign ids */
  char *source;
  const char *step_name; /* pattern for names of spans that mark steps; NULL: use the table in step_names.c */
  int64_t rank;          /* rank found outside of the trace: in the names of all inputs or in a file next to the trace */
  const char *clock_from; /* name of the field that stated the clock; NULL = the clock is unknown or not from a file */
  const char *rank_from; /* source of `rank`, a literal; NULL = the rank was not found outside of the trace */
  const char *rank_note; /* source of `rank` as a sentence for a note; NULL = none */
  uint64_t duplicates; /* events that were left out because two recordings of the rank contain them (load/recordings.h) */
  tk_id unread;   /* name of the first table with data of an unknown kind, which was not read; 0 = none */
  char *mistake;  /* first mistake of a caller who builds a trace (command/build.c) */
  struct trace_cut *cuts; /* indexed by tk_trace.cut: views of one trace may be cut to different ranges */
  uint32_t n_cuts, cap_cuts;
  struct trace_early early;
  struct warp *warp; /* correction that shifted times by different amounts; NULL = no such correction, or several */
  struct map frame_index, stack_index, sample_index; /* hash -> frame, stack, class of samples (stack.c) */
  uint32_t cap_frames, cap_stacks, n_sample_classes;
  /* Frames and their modules as the file describes them; empty unless a trace is loaded for queries (stack.h). */
  struct stack_site *sites;       /* by frame; frames from n_sites on have no site */
  struct stack_mapping *mappings; /* [0..n_mappings) */
  uint32_t n_sites, cap_sites, n_mappings, cap_mappings;
  struct stack_weight {
    int64_t number;
    int32_t exp;
    uint32_t args;
  } weight; /* packed args of the last weight, which the next sample often shares */
  bool has_bytes; /* strings may contain arbitrary bytes, not only UTF-8 */
  bool broken;    /* sealing failed */
  uint8_t without; /* set of enum tk_without. With TK_WITHOUT_FLOWS, adding a flow point returns the dummy; with
                      TK_WITHOUT_ARGS, readers skip args */
  bool left_points; /* flow points were left out */
};

/* Records that everything outside of the range was removed. `edits_before` and `cut_before` are t->edits and t->cut before the
 * removal. If the trace was cut before, the overlap of both ranges is recorded; if other data was removed before, no range is. */
void trace_mark_cut(struct tk_trace *t, unsigned edits_before, tk_id cut_before, struct trace_cut range);
/* Records that a table of the file was not read, because its kind is unknown. */
void trace_mark_unread(struct tk_trace *t, const char *table);
/* Records that data inside of the cut range was also removed. */
static inline void trace_mark_dropped(struct tk_trace *t) {
  t->edits |= TK_EDIT_DROPPED;
  t->cut = 0;
}
/* Records that times were corrected by different amounts. `warp`: the correction; NULL = unknown. Converts cut ranges to the
 * new times. */
void trace_mark_stretched(struct tk_trace *t, const struct warp *warp);
/* Returns the clock correction that moved events by different amounts; NULL if there was none, or if it is unknown. */
const struct warp *trace_warp_of(const struct tk_trace *t);
/* Returns the edits of the trace that cannot be applied to passthrough data. Shifts, known corrections of all times and new
 * names of processes can be applied, and are left out. */
unsigned trace_hard_edits(const struct tk_trace *t);
/* Returns the range to which the trace was cut, in the current times of the graph; NULL if it was not cut, or if it has other
 * hard edits (trace_hard_edits). */
const struct trace_cut *trace_cut_of(const struct tk_trace *t);

/* Checks a trace that a caller of the public API passes: returns false with err if it is NULL or still being built. */
bool trace_is_sealed(const struct tk_trace *t, struct tk_err *err);

/* Returns an empty trace with a memory limit (0 = none), or NULL. */
struct tk_trace *trace_new(uint64_t max_memory);

/* Returns the id of a string. The caller has checked that the string is valid UTF-8. */
tk_id trace_string(struct tk_trace *t, const void *p, size_t n);
tk_id trace_text(struct tk_trace *t, const char *text);
/* Returns the id of the text, or 0 if the trace does not contain the text. */
static inline tk_id trace_text_id(const struct tk_trace *t, const char *text) {
  return intern_id(&t->store->strings, text, strlen(text));
}
static inline const struct intern_str *trace_str(const struct tk_trace *t, tk_id id) { return &t->store->strings.strs[id]; }

tk_id trace_class(struct tk_trace *t, tk_id name, tk_id cat);

static inline struct tk_ident ident_int(int64_t v) { return (struct tk_ident){v, 0, TK_IDENT_INT}; }
static inline struct tk_ident ident_str(tk_id s) { return (struct tk_ident){0, s, TK_IDENT_STR}; }
static inline bool ident_is_number(struct tk_ident i) { return i.kind == TK_IDENT_INT || i.kind == TK_IDENT_QUOTED; }
static inline struct tk_ident ident_none(void) { return (struct tk_ident){0, 0, TK_IDENT_NONE}; }
/* True if both ids name the same thread: 7 and "7" do, because some producers write both for the same thread. */
bool trace_ident_equal(struct tk_ident a, struct tk_ident b);

/* Returns the track with this identity, adding it (and its process) if necessary. `name` distinguishes the counters of a process,
 * and is 0 for other tracks; `tid` of a counter is the thread of its first sample. */
tk_id trace_process(struct tk_trace *t, struct tk_ident pid);
/* Returns the name for the track of a counter that has an id: "name[id]". */
tk_id trace_counter_name(struct tk_trace *t, tk_id name, const struct tk_arg *id);
tk_id trace_track(struct tk_trace *t, enum tk_track_kind kind, struct tk_ident pid, struct tk_ident tid, tk_id name);

/* trace_find returns the track with this kind, pid, tid and name; 0 if there is none. trace_find_or_add adds the track if it
 * is missing, with all members as given, including the parent. */
tk_id trace_find(const struct tk_trace *t, const struct tk_track *want);
tk_id trace_find_or_add(struct tk_trace *t, const struct tk_track *want);
bool trace_has_thread(const struct tk_trace *t, struct tk_ident pid, struct tk_ident tid);

/* Records that the contents of a track belong to the process with this number, such as the queue of a device to the process that
 * submitted its work. trace_owner returns this number, otherwise the parent's number, otherwise the pid; -1 if none is a number. */
void trace_own(struct tk_trace *t, tk_id track, uint32_t process);
int64_t trace_owner(const struct tk_trace *t, tk_id track);
/* Ranks of owners, for a trace that contains several ranks. trace_owner_rank returns -1 for an owner without a rank, such as
 * a launcher; the tracks of such an owner belong to the rank that was set for TRACE_NO_OWNER. */
enum { TRACE_NO_OWNER = -1 };
void trace_number_owner(struct tk_trace *t, int64_t owner, int64_t rank);
int64_t trace_owner_rank(const struct tk_trace *t, int64_t owner);

/* Adds a class or track without searching for an equal one, for formats in which classes or tracks have other identities. */
struct tk_class *trace_add_class(struct tk_trace *t);
struct tk_track *trace_add_track(struct tk_trace *t);

struct tk_event *trace_add_event(struct tk_trace *t);
/* Adds a flow point; returns the dummy if the caller does not want flows. */
struct tk_flow_point *trace_add_flow_point(struct tk_trace *t);
struct tk_record *trace_add_record(struct tk_trace *t);
struct tk_meta *trace_add_meta(struct tk_trace *t);

/* True if the event may have children. A span that outlasts its parent has none, with two exceptions: it was read as separate
 * begin and end events, or it had children before an end event cut off its parent. (Its first child is then the next event.) */
static inline bool trace_nests(const struct tk_trace *t, tk_id event) {
  const struct tk_event *e = &t->events[event];
  if (e->kind != TK_EVENT_SPAN) return false;
  return !(e->flags & TK_FLAG_OVERLAPS) || e->flags & TK_FLAG_PAIRED ||
         (event < t->n_events && e[1].track == e->track && e[1].depth > e->depth);
}

/* Adds a note, or counts another occurrence of an equal one, which keeps its first `offset`. */
void trace_note(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text);
/* Adds a note like trace_note, for `count` occurrences. */
void trace_notes(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text, uint64_t count);
/* Adds a note about one of several inputs. `like`: the input's own note, whose kind, count and offset are used. */
void trace_note_of(struct tk_trace *t, const char *source, const struct tk_note *like, const char *text);
/* Copies all notes of another trace; notes without a source get `source` (NULL: none). */
void trace_copy_notes(struct tk_trace *to, const struct tk_trace *from, const char *source);

/* Returns the absolute time of ts in whole ns, rounded down, on a clock whose origin is `later` ns later. Damaged inputs may
 * contain any origin; times that exceed 64 bits become the end of the range. */
static inline int64_t trace_ns(const struct tk_trace *t, int64_t later, tk_time ts) {
  const i128 ns = (i128)t->origin_ns + later + ts / 1000 - (ts % 1000 < 0);
  return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}
/* Returns the time of trace_ns, but rounded up. */
static inline int64_t trace_ns_up(const struct tk_trace *t, int64_t later, tk_time ts) {
  return trace_ns(t, later, ts > INT64_MAX - 999 ? ts : ts + 999);
}

/* Returns the text of a record or meta. */
static inline const char *trace_raw(const struct tk_trace *t, uint64_t at) {
  return t->store->raw.data ? (const char *)t->store->raw.data + at : "";
}
/* Terminates the text of a meta, so that scanners do not run into the next one. */
static inline void trace_end_raw(struct tk_trace *t) { buf_append(&t->store->raw, "", 1); }
/* Returns the meta with this key, or NULL. */
const struct tk_meta *trace_meta(const struct tk_trace *t, const char *key);

/* Returns the start of the first event and the end of the last one; 0, 0 if no event has a clock. */
void trace_extent(const struct tk_trace *t, tk_time *start, tk_time *end);
/* Returns the first event of the track that starts at the time or later; if there is none, the id after its last event. */
tk_id trace_first_from(const struct tk_trace *t, const struct tk_track *k, tk_time at);

/* ---- args: begin, add values, end ---- */

/* Records that args which were packed without args_end contain this string. In a fragment, the string may be foreign. */
static inline void args_see_string(struct tk_store *s, tk_id id) {
  if (id > s->known_strings) s->has_foreign = true;
}

static inline uint64_t zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }
static inline int64_t unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

#endif
