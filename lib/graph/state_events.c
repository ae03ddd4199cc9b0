/* state_events.c - see state_events.h.
 *
 * Chrome records properties of the whole trace, which a viewer needs, as instants at the time when each became known. A range
 * that begins later also needs these instants, like the last sample of each counter. */
#include "state_events.h"

#include <string.h>

static const struct state_row {
  const char *name, *cat; /* the category contains `cat` */
} ROWS[] = {
    /* Chrome DevTools, models/trace/handlers: MetaHandler.ts, WorkersHandler.ts, LayerTreeHandler.ts */
    {"TracingStartedInBrowser", "devtools.timeline"},   /* frames and their processes; without it, viewers do not treat the
                                                           trace as one of a page */
    {"TracingStartedInPage", "devtools.timeline"},      /* the same, up to Chrome 74 */
    {"FrameCommittedInBrowser", "devtools.timeline"},   /* frames that came later, with the processes that draw them */
    {"TracingSessionIdForWorker", "devtools.timeline"}, /* workers, their threads and scripts */
    {"SetLayerTreeId", "devtools.timeline"},            /* layers of a frame; without it, the pictures of the frame are not found */
};

static bool is_state(const struct tk_trace *t, const struct tk_class *c) {
  const char *name = tk_string(t, c->name, NULL);
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    if (strcmp(name, ROWS[i].name) == 0) return strstr(tk_string(t, c->cat, NULL), ROWS[i].cat);
  return false;
}

uint8_t *state_events_classes(const struct tk_trace *t, struct mem *mem) {
  uint8_t *is = NULL;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    if (!is_state(t, &t->classes[i])) continue;
    if (!is && !(is = mem_zeros(mem, (uint64_t)t->n_classes + 1, 1))) return NULL;
    is[i] = 1;
  }
  return is;
}
