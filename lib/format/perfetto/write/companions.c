/* companions.c - finds the samples that belong in the packets of events: CPU time and instructions of their thread.
 *
 * A sample belongs to an event of the thread if it has the time of the begin or end packet, and an arg of the event has its value
 * (read/extra.c). It is then not written with its counter. An operation may have dropped the arg or the sample; a sample without an arg
 * is written as a separate packet. */
#include "companions.h"

#include <string.h>

#include "counters.h"
#include "descriptors.h"
#include "graph/args.h"
#include "thread_times.h"

enum { MOST_AT_ONCE = 64 }; /* maximum number of samples with the same time that are searched for the sample of an event */

static const char *const COUNTERS[THREAD_COUNTERS] = {THREAD_TIME_COUNTER, INSTRUCTIONS_COUNTER};

/* ---- counters ---- */

static void find_counter(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  const bool is_of_thread = k->kind == TK_TRACK_COUNTERS && k->renamed && k->tid.kind == TK_IDENT_INT && k->count;
  const tk_id thread = is_of_thread && !descriptor_track_hidden(s, track) ? descriptor_thread_of(s, k->parent, k->tid.num) : 0;
  for (unsigned i = 0; thread && i < THREAD_COUNTERS; i++)
    if (strcmp(tk_string(s->t, k->name, NULL), COUNTERS[i]) == 0) map_put(&s->thread_counters, (uint64_t)thread << 1 | i, track);
}

void companions_begin(struct perfetto_sink *s) {
  const uint64_t n = (uint64_t)s->t->n_events + 1;
  s->w.accompanied = NULL;
  if (!s->w.begin_keys.thread_time && !s->w.begin_keys.instructions) return;
  for (tk_id i = 1; i <= s->t->n_tracks; i++) find_counter(s, i);
  if (s->thread_counters.n) s->w.accompanied = mem_zeros(&s->mem, n, 1);
}

void companions_end(struct perfetto_sink *s) {
  map_free(&s->thread_counters);
  mem_free(&s->mem, s->w.accompanied);
  s->w.accompanied = NULL;
}

/* ---- samples of events ---- */

/* True if the sample consists of nothing but this category and value. */
static bool is_sample(const struct tk_trace *t, const struct tk_event *sample, tk_id cat, int64_t value) {
  const struct tk_class *c = &t->classes[sample->cls];
  struct tk_args args = tk_args_of(t, sample->args);
  struct tk_arg arg;
  const bool has_value = tk_args_next(&args, &arg) && arg.type == TK_ARG_INT && arg.i == value;
  return has_value && c->cat == cat && !c->args && !tk_args_next(&args, &arg);
}

/* Returns the category that the begin or end packet of the event contains. */
static tk_id packet_category(const struct tk_trace *t, const struct tk_event *e, bool at_end) {
  struct tk_arg arg;
  if (at_end && args_of_event(t, e, KEY_END_CAT, &arg)) return arg.s;
  return !at_end || e->flags & TK_FLAG_END_NAMED ? t->classes[e->cls].cat : 0;
}

static void match(struct event_writer *w, const struct tk_track *counter, tk_id event, unsigned which, bool at_end) {
  const struct tk_trace *t = w->t;
  const struct tk_event *e = &t->events[event];
  const tk_time ts = e->ts + (at_end ? e->dur : 0);
  const tk_id cat = packet_category(t, e, at_end);
  int64_t value;
  if (!thread_times_value(w, event, which, at_end, &value)) return;
  const tk_id first = trace_first_from(t, counter, ts), behind = counter->first + counter->count;
  for (tk_id i = first; i < behind && i - first < MOST_AT_ONCE && t->events[i].ts == ts; i++) {
    if (w->accompanied[i] || !is_sample(t, &t->events[i], cat, value)) continue;
    w->accompanied[i] = ACCOMPANIES;
    w->accompanied[event] |= thread_times_bit(which, at_end);
    return;
  }
}

static void match_all(struct perfetto_sink *s, tk_id thread, unsigned which, const struct tk_track *counter) {
  const struct tk_track *k = &s->t->tracks[thread];
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    match(&s->w, counter, i, which, false);
    if (writer_has_end(&s->t->events[i])) match(&s->w, counter, i, which, true);
  }
}

void companions_of(struct perfetto_sink *s, tk_id thread) {
  struct event_writer *w = &s->w;
  memset(w->companions, 0, sizeof w->companions);
  if (!w->accompanied) return;
  for (unsigned i = 0; i < THREAD_COUNTERS; i++) {
    const uint32_t *counter = map_get(&s->thread_counters, (uint64_t)thread << 1 | i);
    if (!counter) continue;
    match_all(s, thread, i, &s->t->tracks[*counter]);
    w->companions[i] = counters_uuid(s, *counter);
  }
}
