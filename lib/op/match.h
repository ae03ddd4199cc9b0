/* match.h - tests whether an event passes an expression.
 *
 * A test that depends only on the class or the track is evaluated once for each of them, and the result is cached: a million events
 * have only about a thousand names. */
#ifndef OP_MATCH_H
#define OP_MATCH_H

#include "expr.h"
#include "links.h"
#include "phases.h"
#include "window.h"
#include "work_classes.h"
#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"

enum verdict { NO, YES, MAYBE };

struct match {
  struct mem *mem;
  const struct tk_trace *t;
  struct expr *root; /* NULL = everything passes */
  uint32_t n_tests;
  bool selects_lines; /* true if a test uses the track or thread, or a kind of events that are on separate lines of a device */
  uint8_t **of_class, **of_track; /* by test and id: verdict + 1; 0 = not evaluated yet */
  struct map *texts;              /* by test: string id of an arg's value -> verdict */
  tk_id *keys;                    /* by test: string id of the arg's key */
  const struct track_origin *origins; /* by track: rank and host; NULL = unknown */
  struct kinds kinds;
  struct steps steps;
  tk_time *self; /* by event: self time; NULL = no test needs it */
  struct links links; /* launches of device work; filled only if a test needs them */
  struct phases phases; /* filled only if a test needs them */
  uint8_t **regions; /* by test of SYM_LAUNCHED_BY, by event: true if its name or the name of a span around it passes the test */
  struct work_classes work_classes; /* filled only if a test needs them */
  tk_time start; /* start of the first event */
  tk_id n_events;
};

/* Prepares the tests. `where`: NULL-terminated list of expressions that must all be true; NULL = every event passes. Returns
 * false with err on failure. */
bool match_init(struct match *m, const struct tk_trace *t, const char *const *where, const struct track_origin *origins,
                struct mem *mem, struct tk_err *err);
void match_free(struct match *m);

/* If the scope selects steps, assigns device work to the steps in which it was launched on the host (step_launches.h). launch_of: by
 * event, the host event that launched it; NULL = to be computed here. Returns false if memory runs out. */
bool match_follow_launches(struct match *m, struct scope *s, const tk_id *launch_of);

bool match_event(const struct match *m, tk_id event);
/* Returns false with err set if a test could not be evaluated because matching a regular expression exceeded a limit. */
bool match_check(const struct match *m, struct tk_err *err);
/* Finds the stream number in the name of a device queue: "Stream #7(Compute)". */
bool match_stream_in_name(const struct tk_trace *t, tk_id track, int64_t *number);
/* Finds the device number in the name of the track's process: "GPU 3", "/device:TPU:0". */
bool match_device_in_name(const struct tk_trace *t, tk_id track, int64_t *number);

/* Evaluates the tests that depend only on the track: NO if no event of this track can pass, YES if all events pass. */
enum verdict match_track(const struct match *m, tk_id track);

#endif
