/* write_event.h - the text of one event of Chrome JSON.
 *
 * What repeats is formatted once per graph: `"cat":..,"name":..` per class, `"pid":..,"tid":..` per track, where each field of an
 * arg shape goes and how its key is spelled.  An event is then a few copies and its numbers. */
#ifndef FORMAT_CHROME_WRITE_EVENT_H
#define FORMAT_CHROME_WRITE_EVENT_H

#include "graph/sink.h"
#include "lanes.h"
#include "io/out.h"

/* Where an arg of the graph stands in the JSON event. */
enum place {
  IN_ARGS, AS_FIELD,                 /* of the event, or of the begin event of a pair */
  IN_END_ARGS, AS_END_FIELD,         /* of the end event of a pair */
  MARK_ARGS,                         /* "args" itself: {} or a value that is no object */
  MARK_PH, MARK_TS, MARK_TID,        /* instead of what the model would print */
  MARK_END_NAME, MARK_END_CAT, MARK_END_TS, MARK_END_TID, MARK_END_PID, MARK_END_ARGS,
  MARK_RESPELLED, MARK_END_RESPELLED /* which numbers are in quotes where others are not, or the other way round */
};

struct fragment {
  uint64_t at;
  uint32_t n;
};

struct printed_shape {
  uint32_t first; /* of `fields` */
  bool ready;     /* its fields are made */
  bool simple;    /* all in args: the common case */
};

struct printed_field {
  uint8_t place;
  struct fragment key; /* "key": */
};

/* The keys of a shape, as they are printed in one place of an event (key_set.c). */
struct key_list {
  const struct tk_arg_shape *shape;
  const struct printed_field *fields;
  uint8_t place;
  const uint8_t *text; /* of all fragments */
};

/* Those of the last shape of many args that was asked about. */
struct key_set {
  struct map map;
  const struct tk_arg_shape *of;
};

bool key_set_has(struct key_set *set, const struct key_list *list, struct fragment key);

struct printer {
  struct out *out;
  const struct tk_trace *t;
  int64_t base_ns; /* of ts 0 against what the file prints times */
  struct buf text; /* all fragments */
  struct fragment *classes, *tracks;
  uint8_t *clean; /* per string: 1 = needs no escape */
  struct printed_shape *shapes;
  struct printed_field *fields;
  struct key_set keys;
  const struct sink_meter *meter; /* hears of args; NULL = nobody does */
  bool joined; /* the event is a pair that is written whole: args of its end stand among its own */
  const struct lanes *lanes; /* NULL = there are none */
  tk_id *points; /* by event: a flow point of it that its args do not say, to be printed as bind_id; NULL = there are none */
};

/* Prepares fragments for the graph; false when memory runs out. */
bool printer_begin(struct printer *p, struct out *out, const struct tk_trace *t, int64_t zero_ns, struct mem *mem);
void printer_end(struct printer *p);

/* What was added to the printer's text from `at` on. */
static inline struct fragment print_fragment_from(const struct printer *p, size_t at) {
  return (struct fragment){at, (uint32_t)(p->text.len - at)};
}
/* The key and the pid or tid, if there is one, to the printer's text. */
void print_add_ident(struct printer *p, const char *key, struct tk_ident i);
void print_make_shape(struct printer *p, const struct tk_arg_shape *s, struct printed_shape *out);

enum event_part { WHOLE, BEGIN, END };
void print_event(struct printer *p, const struct tk_event *e, enum event_part part);
/* Points that belong to an event (OUT, IN, INOUT) are fields of it: those of JSON by its args, of other formats one each. */
bool print_is_field(const struct printer *p, const struct tk_flow_point *f);
void print_flow(struct printer *p, const struct tk_flow_point *f);
/* ",pid,tid" of a lane. */
void print_lane(struct printer *p, const struct lane *lane);
void print_record(struct printer *p, const struct tk_record *r);

#endif
