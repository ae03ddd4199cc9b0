/* thread_times.c - writes the CPU time and the instructions of a thread into the packets of its events.
 *
 * trace_processor shows them as columns of a slice only if the begin and end packets of the slice contain them (extra_counter_values).
 * In the graph they are args of the event, and samples of a counter of its thread (read/extra.c). companions.c finds the samples of
 * each event; an arg without a sample is written as an annotation. */
#include "thread_times.h"

#include "graph/args.h"

static tk_id key_of_counter(const struct event_writer *w, unsigned which, bool at_end) {
  const struct field_keys *keys = at_end ? &w->end_field_keys : &w->begin_keys;
  return which == 0 ? keys->thread_time : keys->instructions;
}

bool thread_times_value(const struct event_writer *w, tk_id event, unsigned which, bool at_end, int64_t *value) {
  const tk_id key = key_of_counter(w, which, at_end);
  const bool in_us = which == 0;
  struct tk_arg arg;
  if (!key || !args_of_event(w->t, &w->t->events[event], key, &arg)) return false;
  *value = arg.i;
  if (arg.type == TK_ARG_DECIMAL) return in_us && arg.exp == -3;
  return arg.type == TK_ARG_INT && !(in_us && __builtin_mul_overflow(arg.i, 1000, value));
}

bool thread_times_says(const struct event_writer *w, tk_id event, tk_id key) {
  for (unsigned i = 0; w->accompanied && i < THREAD_COUNTERS; i++) {
    if (key == key_of_counter(w, i, false)) return w->accompanied[event] & thread_times_bit(i, false);
    if (key == key_of_counter(w, i, true)) return w->accompanied[event] & thread_times_bit(i, true);
  }
  return false;
}

/* True if the counters in `has` are the first ones of the sequence's default list, so that the event need not name them. */
static bool is_default(const struct event_writer *w, const bool *has) {
  bool same = !w->plain;
  for (unsigned i = 0, ended = 0; i < THREAD_COUNTERS; i++) {
    if (has[i] && ended) same = false;
    if (w->companions[i] && !has[i]) ended = 1;
  }
  return same;
}

void thread_times_put(struct event_writer *w, tk_id event, bool at_end) {
  bool has[THREAD_COUNTERS];
  int64_t values[THREAD_COUNTERS];
  bool any = false;
  if (!w->accompanied) return;
  for (unsigned i = 0; i < THREAD_COUNTERS; i++) {
    has[i] = w->accompanied[event] & thread_times_bit(i, at_end) && thread_times_value(w, event, i, at_end, &values[i]);
    any = any || has[i];
  }
  if (!any) return;
  const bool names = !is_default(w, has);
  for (unsigned i = 0; i < THREAD_COUNTERS; i++)
    if (has[i] && names) pb_u64(&w->event, EVENT_EXTRA_UUIDS, w->companions[i]);
  for (unsigned i = 0; i < THREAD_COUNTERS; i++)
    if (has[i]) pb_i64(&w->event, EVENT_EXTRA_VALUES, values[i]);
}
