/* match.h - tests whether an event passes an expression.
 *
 * A test of a class or a track is evaluated once and the result is cached: a million events have about a thousand names. */
#ifndef OP_MATCH_H
#define OP_MATCH_H

#include "expr.h"
#include "links.h"
#include "phases.h"
#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"

enum verdict { NO, YES, MAYBE };

struct match {
  struct mem *mem;
  const struct tk_trace *t;
  struct expr *root; /* NULL = everything passes */
  uint32_t n_tests;
  uint8_t **of_class, **of_track; /* by test, by id: verdict + 1, 0 = not evaluated yet */
  struct map *texts;              /* by test: string of an arg -> verdict */
  tk_id *keys;                    /* by test: key of the arg */
  const struct track_origin *origins; /* by track; NULL = unknown */
  struct kinds kinds;
  struct steps steps;
  tk_time *self; /* by event, if a test needs it */
  struct links links; /* launches of device work, if a test needs them */
  struct phases phases; /* if a test needs them */
  uint8_t **regions; /* by test of SYM_LAUNCHED_BY, by event: whether it or a span around it has such a name */
  tk_time start; /* start of the first event */
  tk_id n_events;
};

/* `where`: NULL-terminated list of expressions that must all hold; NULL = everything passes. */
bool match_init(struct match *m, const struct tk_trace *t, const char *const *where, const struct track_origin *origins,
                struct mem *mem, struct tk_err *err);
void match_free(struct match *m);

bool match_event(const struct match *m, tk_id event);
/* False with err set if a test could not be evaluated: a regular expression gave up on a text. */
bool match_check(const struct match *m, struct tk_err *err);
/* Finds the number in the name of a device queue: "Stream #7(Compute)". */
bool match_stream_in_name(const struct tk_trace *t, tk_id track, int64_t *number);
/* Finds the number in the name of the device that the track's process stands for: "GPU 3", "/device:TPU:0". */
bool match_device_in_name(const struct tk_trace *t, tk_id track, int64_t *number);

/* Evaluates what is known without an event: NO if no event of this track can pass, YES if all do. */
enum verdict match_track(const struct match *m, tk_id track);

#endif
