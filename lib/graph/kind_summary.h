/* kind_summary.h - threads that show the totals of other threads. */
#ifndef GRAPH_KIND_SUMMARY_H
#define GRAPH_KIND_SUMMARY_H

#include "kind.h"

/* Adds KIND_REPEAT to the tracks on which clang writes totals. */
void kind_summary_tracks(struct kinds *k);

#endif
