/* kind_tasks.h - finds the tasks that make up the collectives of Ascend. */
#ifndef GRAPH_KIND_TASKS_H
#define GRAPH_KIND_TASKS_H

#include "kind.h"

/* Changes the roles of tracks with tasks of collectives: KIND_WAIT for a stream whose copies are such tasks, KIND_REPEAT for a
 * track that repeats tasks of streams. Returns false if memory runs out. */
bool kind_tasks_mark(struct kinds *k);

#endif
