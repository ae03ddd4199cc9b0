/* print.h - prints one event of Chrome JSON.
 *
 * Repeated text, called a fragment, is formatted once per graph: `"cat":..,"name":..` for each class, `"pid":..,"tid":..` for
 * each track, and for each arg shape the place and spelling of each key. Printing an event then means copying a few fragments
 * and printing its numbers. */
#ifndef FORMAT_CHROME_WRITE_PRINT_H
#define FORMAT_CHROME_WRITE_PRINT_H

#include "graph/sink.h"
#include "format/chrome/lanes.h"
#include "io/out.h"

/* Place of an arg in the JSON event. */
enum place {
  IN_ARGS, AS_FIELD,                 /* inside "args" or as a field: of the event, or of the begin event of a pair */
  IN_END_ARGS, AS_END_FIELD,         /* inside "args" or as a field: of the end event of a pair */
  MARK_ARGS,                         /* instead of "args": the original {} or a value that is not an object */
  MARK_PH, MARK_TS, MARK_TID,        /* instead of the value that would be printed otherwise */
  MARK_END_NAME, MARK_END_CAT, MARK_END_TS, MARK_END_TID, MARK_END_PID, MARK_END_ARGS,
  MARK_RESPELLED, MARK_END_RESPELLED /* not printed: lists numbers that are quoted differently than in other events */
};

struct fragment {
  uint64_t at;
  uint32_t n;
};

struct printed_shape {
  uint32_t first; /* index of its first field in `fields` */
  bool ready;     /* true if its fields have been formatted */
  bool simple;    /* true if all fields are inside "args", the most common case */
};

struct printed_field {
  uint8_t place;
  struct fragment key; /* "key": as text */
};

/* The keys of a shape that are printed in one place of an event (key_set.c). */
struct key_list {
  const struct tk_arg_shape *shape;
  const struct printed_field *fields;
  uint8_t place;
  const uint8_t *text; /* text of all fragments */
};

/* Keys of the last shape that was looked up and has many args. */
struct key_set {
  struct map map;
  const struct tk_arg_shape *of;
};

struct printer {
  struct out *out;
  const struct tk_trace *t;
  int64_t base_ns; /* time of ts 0, relative to the file's time base */
  struct buf text; /* text of all fragments */
  struct fragment *classes, *tracks;
  uint8_t *clean; /* by string id: 1 = needs no escapes */
  struct printed_shape *shapes;
  struct printed_field *fields;
  struct key_set keys;
  const struct sink_meter *meter; /* called for each arg; NULL = bytes are not metered */
  bool joined; /* true if the event is a pair written as a complete event, which then also contains the args of its end event */
  const struct lanes *lanes; /* NULL = no lanes */
  tk_id *points; /* by event: flow point to print as bind_id, because the event's args do not contain it; NULL = none */
};

/* Formats the fragments of the graph. Returns false when memory runs out. */
bool print_start(struct printer *p, struct out *out, const struct tk_trace *t, int64_t zero_ns, struct mem *mem);
void print_finish(struct printer *p);

/* Returns the fragment that starts at `at` and extends to the end of the printer's text. */
static inline struct fragment print_fragment_from(const struct printer *p, size_t at) {
  return (struct fragment){at, (uint32_t)(p->text.len - at)};
}
/* Appends `key` and the pid or tid to the printer's text; does nothing if `i` is not set. */
void print_add_ident(struct printer *p, const char *key, struct tk_ident i);
void print_make_shape(struct printer *p, const struct tk_arg_shape *s, struct printed_shape *out);

enum event_part { WHOLE, BEGIN, END };
void print_event(struct printer *p, const struct tk_event *e, enum event_part part);
/* True for flow points of the kinds OUT, IN and INOUT that are printed as fields of their event: for traces from JSON, those in
 * the event's args; for other formats, one per event. */
bool print_is_field(const struct printer *p, const struct tk_flow_point *f);
void print_flow(struct printer *p, const struct tk_flow_point *f);
/* Prints ",pid,tid" of a lane. */
void print_lane(struct printer *p, const struct lane *lane);
void print_record(struct printer *p, const struct tk_record *r);

#endif
