/* apart.c - see apart.h. The trace is divided into slots; a gap is a run of slots that no event covers, so one pass over the events is
 * enough. */
#include "apart.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { SLOTS = 4096 };
static const tk_time HOUR = (tk_time)3600 * 1000000000000;

static bool counts(const struct tk_event *e) { return !(e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_UNFINISHED)); }

static unsigned slot_of(tk_time ts, tk_time start, tk_time width) {
  const i128 slot = ((i128)ts - start) / width;
  return slot < 0 ? 0 : slot > SLOTS ? SLOTS : (unsigned)slot;
}

/* Finds the longest run of free slots; starts[i] and ends[i] count the events that start and end in slot i. */
static unsigned widest_gap(const uint32_t *starts, const uint32_t *ends, unsigned *first) {
  uint64_t open = 0;
  unsigned most = 0, run = 0;
  for (unsigned i = 0; i <= SLOTS; i++) {
    open += starts[i];
    run = open ? 0 : run + 1;
    if (run > most) most = run, *first = i + 1 - run;
    open -= ends[i];
  }
  return most;
}

/* A gap: number of events before it, and the exact times at which it begins and ends. */
struct sides {
  uint64_t n_before, n_after;
  tk_time last, next;
};

static struct sides divide(const struct tk_trace *t, tk_time middle) {
  struct sides s = {0, 0, INT64_MIN, INT64_MAX};
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!counts(e)) continue;
    if (e->ts > middle) {
      s.n_after++;
      if (e->ts < s.next) s.next = e->ts;
    } else {
      s.n_before++;
      if (e->ts + e->dur > s.last) s.last = e->ts + e->dur;
    }
  }
  return s;
}

static void note_gap(struct tk_trace *t, const struct sides *s, i128 gap) {
  const bool early = s->n_before <= s->n_after;
  char text[160], time[48];
  tk_print_duration(gap < INT64_MAX ? (tk_time)gap : INT64_MAX, time);
  snprintf(text, sizeof text, "events that are %s %s all others: their clock may be wrong", time, early ? "before" : "after");
  trace_notes(t, TK_NOTE_FACT, UINT64_MAX, text, early ? s->n_before : s->n_after);
}

void apart_note(struct tk_trace *t, tk_time start, tk_time end) {
  uint32_t starts[SLOTS + 1] = {0}, ends[SLOTS + 1] = {0};
  unsigned first = 0;
  if (end <= start || (i128)end - start < HOUR) return;
  const tk_time width = (tk_time)(((i128)end - start) / SLOTS) + 1;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!counts(e)) continue;
    starts[slot_of(e->ts, start, width)]++;
    ends[slot_of(e->ts + e->dur, start, width)]++;
  }
  if (widest_gap(starts, ends, &first) == 0) return;
  const i128 middle = start + (i128)first * width;
  const struct sides s = divide(t, middle < end ? (tk_time)middle : end);
  if (s.n_before == 0 || s.n_after == 0) return;
  const i128 gap = (i128)s.next - s.last;
  if (gap >= HOUR && gap * 2 > (i128)end - start) note_gap(t, &s, gap);
}
