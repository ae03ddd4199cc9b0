/* stack.h - stack samples: frames, stacks and classes of samples, each stored once.
 *
 * A sample is an event of kind TK_EVENT_SAMPLE. Its class has the stack and the unit of the weight; the name of the class is the name
 * of the innermost frame, so that a selection by name finds the function that was running. The weight is the arg KEY_WEIGHT; without
 * the arg, it is 1. A trace without samples has none of these tables. */
#ifndef GRAPH_STACK_H
#define GRAPH_STACK_H

#include "trace.h"

/* A frame as the file describes it: queries must return the rows of trace_processor, which distinguishes frames of one name by
 * mapping and address. Only traces that are loaded for queries have sites (TK_WITHOUT_RESTORING). */
struct stack_site {
  uint64_t address; /* relative to the mapping */
  uint32_t mapping; /* index + 1; 0 = the trace has no mappings */
  bool has_symbol;  /* the file states source file and line of the frame */
};
/* A part of an address space, such as the range of a module. */
struct stack_mapping {
  tk_id name, build_id; /* strings; build_id: as hexadecimal digits */
  uint64_t exact_offset, start_offset, start, end, load_bias;
};

/* Adds a mapping. Returns its index + 1; 0 when memory runs out. */
uint32_t stack_add_mapping(struct tk_trace *t, const struct stack_mapping *m);
/* Returns the id of a frame with this site; equal frames with equal sites have one id. 0 when memory runs out. */
tk_id stack_frame_at(struct tk_trace *t, const struct tk_frame *frame, const struct stack_site *site);
struct stack_site stack_site_of(const struct tk_trace *t, tk_id frame);

/* Return the id of a frame, of a stack that extends `parent` by a frame, and of a class of samples; equal ones have one id. 0 when
 * memory runs out. `stack` may be 0: no frame is known. */
tk_id stack_frame(struct tk_trace *t, const struct tk_frame *frame);
tk_id stack_push(struct tk_trace *t, tk_id parent, tk_id frame);
tk_id stack_class(struct tk_trace *t, tk_id stack, tk_id cat, tk_id unit);

/* Returns packed args with a weight of `number` x 10^exp and the args under construction (`more`: args_begin was called); 0
 * if the weight is 1 and there are no other args. */
uint32_t stack_weight_args(struct tk_trace *t, int64_t number, int32_t exp, bool more);

/* Adds a sample without checking it; its ids must be valid. */
void stack_add(struct tk_trace *t, const struct tk_sample *s);
/* Adds a sample like stack_add, with args that stack_weight_args returned. */
void stack_add_with(struct tk_trace *t, const struct tk_sample *s, uint32_t args);

static inline bool stack_has_samples(const struct tk_trace *t) { return t->store->n_sample_classes != 0; }

/* True if the text of the record no longer agrees with its samples, because an operation changed the trace. Writers then write
 * only the samples, not the record. */
static inline bool stack_outdates(const struct tk_trace *t, const struct tk_record *r) { return r->sampled && t->edits; }
/* Returns the number of records with samples, if the trace still has such samples. If a writer leaves out these records, it
 * loses all their other data. */
uint64_t stack_sampled_records(const struct tk_trace *t);

/* True if the unit is a unit of time; weights in such a unit can be added to durations. *exp: the unit is 10^exp seconds. */
bool stack_unit_is_time(const struct tk_trace *t, tk_id unit, int *exp);
/* Returns the weight in picoseconds if the unit is a unit of time, else in thousandths of the unit; at most 2^94, so that the
 * sum over all events of a trace fits. */
i128 stack_amount(const struct tk_trace *t, const struct tk_event *sample);

/* For writers of formats in which a stack is a list of all its frames: returns false with err if the lists would have more frames
 * than STACK_FRAMES_MOST plus STACK_DEPTH_MOST for each sample. Samples share the outer part of their stacks, so that a short
 * input could otherwise become an output that is larger by any factor. `each`: the format has a list for each sample, rather than
 * for each distinct stack. */
enum { STACK_FRAMES_MOST = 1 << 24, STACK_DEPTH_MOST = 1024 };
bool stack_fits_lists(const struct tk_trace *t, bool each, struct tk_err *err);
/* Same as the function above, for writers that write a span as a list of the spans around it. */
bool stack_fits_spans(const struct tk_trace *t, struct tk_err *err);

/* Copies the tables of `from`, whose strings have the ids strings[id] in `to`. stacks[id] becomes the id in `to` of
 * each stack. Returns false when memory runs out. */
bool stack_join(struct tk_trace *to, const struct tk_trace *from, const tk_id *strings, tk_id *stacks);

/* Finds the first invalid entry of the tables; NULL = all are valid. */
const char *stack_fault(const struct tk_trace *t, tk_id *id);

#endif
