/* hosts.h - finds inputs that share a clock. */
#ifndef ALIGN_SOLVE_HOSTS_H
#define ALIGN_SOLVE_HOSTS_H

#include "solve.h"

/* Tests host names: inputs of one name that do not leave their collectives together become separate hosts, which may still turn
 * out to share a clock. Sets `assumed` for a host whose inputs share no collective with each other. Returns false when memory
 * runs out. */
bool hosts_test(struct align_problem *p, struct align_solution *s);

/* Joins hosts that appear to share a clock: their inputs become one host, whose error bounds include the individual result of
 * each. Calls `solve` again if any hosts were joined. Returns false when memory runs out. */
bool hosts_join(struct align_problem *p, struct align_solution *s, bool (*solve)(struct align_problem *, struct align_solution *));

#endif
