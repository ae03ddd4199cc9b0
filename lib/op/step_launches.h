/* step_launches.h - assigns device work to the step in which the host launched it.
 *
 * A device runs behind its host, often by a whole step, so work often runs during a later step of the host than the one that launched
 * it. Devices with their own steps (the line "Steps" of XPlane) are not changed, because those steps already match the work. */
#ifndef OP_STEP_LAUNCHES_H
#define OP_STEP_LAUNCHES_H

#include "graph/origin.h"
#include "graph/steps.h"

/* Afterwards, steps_of and steps_at return the step of the launch for work whose launch is known. They return no step for work without
 * a known launch that starts before all work of its stream with a known launch, because it was launched before the recording began.
 * Copies of annotations on a stream get the step of the first work inside them. If no launch is on a thread with host steps, nothing
 * changes. launch_of: by event, the host event that launched it; NULL = to be found here. Returns false if memory runs out. */
bool step_launches_link(struct steps *s, const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch_of);

#endif
