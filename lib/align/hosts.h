/* hosts.h - which inputs have one clock. */
#ifndef ALIGN_HOSTS_H
#define ALIGN_HOSTS_H

#include "align.h"

/* Tests what names say: inputs of one host that do not leave their collectives together become hosts of their own, which may still turn
 * out to share a clock; of a host whose inputs have nothing in common `assumed` is set.  False when memory runs out. */
bool hosts_test(struct align_problem *p, struct align_solution *s);

/* Hosts that may be one, and stand where one would: their inputs become one host's, and what is claimed of it covers what each was
 * found to be by itself.  `solve` is called again if there were any.  False when memory runs out. */
bool hosts_join(struct align_problem *p, struct align_solution *s, bool (*solve)(struct align_problem *, struct align_solution *));

#endif
