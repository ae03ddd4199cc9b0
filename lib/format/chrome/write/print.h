/* print.h - prints one event of Chrome JSON.
 *
 * Repeated text is formatted once per graph: `"cat":..,"name":..` per class, `"pid":..,"tid":..` per track, and, per arg shape,
 * the place and spelling of each key. An event is then a few copies and its numbers. */
#ifndef FORMAT_CHROME_WRITE_PRINT_H
#define FORMAT_CHROME_WRITE_PRINT_H

#include "graph/sink.h"
#include "format/chrome/lanes.h"
#include "io/out.h"

/* Place of an arg in the JSON event. */
enum place {
  IN_ARGS, AS_FIELD,                 /* of the event, or of the begin event of a pair */
  IN_END_ARGS, AS_END_FIELD,         /* of the end event of a pair */
  MARK_ARGS,                         /* replaces "args": {} or a value that is not an object */
  MARK_PH, MARK_TS, MARK_TID,        /* replaces the value that the model would print */
  MARK_END_NAME, MARK_END_CAT, MARK_END_TS, MARK_END_TID, MARK_END_PID, MARK_END_ARGS,
  MARK_RESPELLED, MARK_END_RESPELLED /* lists numbers that are quoted where others are not, or the other way round */
};

struct fragment {
  uint64_t at;
  uint32_t n;
};

struct printed_shape {
  uint32_t first; /* index into `fields` */
  bool ready;     /* its fields have been formatted */
  bool simple;    /* all fields are in args: the common case */
};

struct printed_field {
  uint8_t place;
  struct fragment key; /* "key": */
};

/* Keys of a shape as printed in one place of an event (key_set.c). */
struct key_list {
  const struct tk_arg_shape *shape;
  const struct printed_field *fields;
  uint8_t place;
  const uint8_t *text; /* of all fragments */
};

/* Keys of the last shape with many args that was looked up. */
struct key_set {
  struct map map;
  const struct tk_arg_shape *of;
};

struct printer {
  struct out *out;
  const struct tk_trace *t;
  int64_t base_ns; /* ts 0 relative to the file's time base */
  struct buf text; /* all fragments */
  struct fragment *classes, *tracks;
  uint8_t *clean; /* by string: 1 = needs no escape */
  struct printed_shape *shapes;
  struct printed_field *fields;
  struct key_set keys;
  const struct sink_meter *meter; /* notified of args; NULL = none */
  bool joined; /* the event is a pair written as a complete event: args of its end are among its own */
  const struct lanes *lanes; /* NULL = none */
  tk_id *points; /* by event: a flow point that its args do not contain, printed as bind_id; NULL = none */
};

/* Formats fragments for the graph. Returns false when memory runs out. */
bool print_start(struct printer *p, struct out *out, const struct tk_trace *t, int64_t zero_ns, struct mem *mem);
void print_finish(struct printer *p);

/* Returns the fragment of what was added to the printer's text from `at` on. */
static inline struct fragment print_fragment_from(const struct printer *p, size_t at) {
  return (struct fragment){at, (uint32_t)(p->text.len - at)};
}
/* Appends the key and the pid or tid, if there is one, to the printer's text. */
void print_add_ident(struct printer *p, const char *key, struct tk_ident i);
void print_make_shape(struct printer *p, const struct tk_arg_shape *s, struct printed_shape *out);

enum event_part { WHOLE, BEGIN, END };
void print_event(struct printer *p, const struct tk_event *e, enum event_part part);
/* True for points that belong to an event (OUT, IN, INOUT) and are printed as its fields: as recorded in the args of JSON, one
 * per event for other formats. */
bool print_is_field(const struct printer *p, const struct tk_flow_point *f);
void print_flow(struct printer *p, const struct tk_flow_point *f);
/* Prints ",pid,tid" of a lane. */
void print_lane(struct printer *p, const struct lane *lane);
void print_record(struct printer *p, const struct tk_record *r);

#endif
