/* sources_beside.h - inputs that are recordings of one rank by several profilers.
 *
 *     kineto_rank0.json                         input 0: the rank's main recording
 *     nsys_rank0.sqlite snapshot_rank0.pickle   its other recordings, which are not inputs of their own
 *
 * Such inputs claim the same rank and have different formats. The user states with the option `join` that they belong to one rank;
 * otherwise their contents must show it (load/evident.h). The main recording is the one whose format comes first in the table of
 * formats, so the result does not depend on the order of the inputs. */
#ifndef SOURCE_SOURCES_BESIDE_H
#define SOURCE_SOURCES_BESIDE_H

#include "graph/trace.h"
#include "sources.h"

/* Sets *several if the inputs have different formats. Returns false only on an interrupt. */
bool sources_have_formats(struct tk_sources *s, bool *several, struct tk_err *err);

/* For the option `join` and inputs of several formats: joins all recordings of each rank. If at most one rank is known, all
 * inputs belong to it. Returns false with err if a rank has two recordings of one format, or an input's rank is unknown. */
bool sources_join_recordings(struct tk_sources *s, struct tk_err *err);

/* Finds inputs that may be recordings of one rank: sets main_of[i] to the main recording of the rank that input i claims. This is
 * i itself if no input of another format claims the rank, or if two inputs of the same format do. Returns false only on an
 * interrupt. */
bool sources_find_recordings(struct tk_sources *s, size_t *main_of, struct tk_err *err);

/* Makes input `other` another recording of the rank of input `main`. The caller then calls sources_drop_joined. Returns false when
 * memory runs out. */
bool sources_put_beside(struct tk_sources *s, size_t main, size_t other);
/* Drops the inputs that became pieces or recordings of another one. */
void sources_drop_joined(struct tk_sources *s);

/* Finds the nth other recording of an input. Returns false if there are fewer recordings. */
bool sources_recording(const struct tk_sources *s, size_t i, size_t nth, struct source_view *v);
/* Returns the path of the nth other recording; NULL if there are fewer recordings. */
const char *sources_recording_path(const struct tk_sources *s, size_t i, size_t nth);
bool sources_recording_is_file(const struct tk_sources *s, size_t i);
bool sources_keep_recordings(struct tk_sources *s, size_t i, struct tk_err *err);

/* Sets how the clocks of recordings are aligned: not at all with TK_ALIGN_NONE, by the wall clock with TK_ALIGN_CLOCK, and
 * otherwise by the events that both contain. */
void sources_set_align(struct tk_sources *s, enum tk_align align);
enum tk_align sources_align(const struct tk_sources *s);

/* Sets the range to which the caller will cut the traces that it loads. */
void sources_set_cut(struct tk_sources *s, struct trace_early cut);
struct trace_early sources_cut(const struct tk_sources *s);

#endif
