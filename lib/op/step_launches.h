/* step_launches.h - gives device work the step of the host that launched it.
 *
 * A device runs behind its host, often by a whole step, so the step during which work runs is not the step that caused it. Traces
 * whose devices mark steps of their own (the line "Steps" of XPlane) are left as they are, because those steps follow the work. */
#ifndef OP_STEP_LAUNCHES_H
#define OP_STEP_LAUNCHES_H

#include "graph/origin.h"
#include "graph/steps.h"

/* Afterwards, steps_of and steps_at find the step of the launch for work whose launch is known, and no step for work that was launched
 * before the recording began: work without a known launch that starts before the first work of its stream with one. The copies of
 * annotations on a stream belong to the step of their first work. Without a known launch in a step of a host, nothing changes.
 * launch_of: by event, the host event that launched it; NULL = not found yet. Returns false if memory runs out. */
bool step_launches_link(struct steps *s, const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch_of);

#endif
