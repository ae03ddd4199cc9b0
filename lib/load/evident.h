/* evident.h - joins inputs that evidently are recordings of one rank, although the user did not state it.
 *
 * Candidates claim the same rank and have different formats (source/sources_beside.h). They are one rank if they share the pid of a
 * process that ran on the host, do not name different hosts, and were recording at the same time. Formats that invent pids never prove
 * this, so inputs in such formats stay separate unless the user joins them. */
#ifndef LOAD_EVIDENT_H
#define LOAD_EVIDENT_H

#include "tracekit.h"

/* Joins the inputs that evidently are recordings of one rank, so that `s` has fewer inputs. `align` applies when the recordings are
 * loaded. The candidates are read for this purpose; unreadable ones stay separate. Returns false with err only on an interrupt or when
 * memory runs out. */
bool load_join_evident(struct tk_sources *s, enum tk_align align, const struct tk_load_options *opt, struct tk_err *err);

#endif
