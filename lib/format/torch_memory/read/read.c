/* read.c - reads a memory snapshot: its pickle (pickle.c) becomes arrays (snapshot.c), and the arrays become the events of each
 * device (devices.c). */
#include "read.h"

#include <string.h>

#include "base/err.h"
#include "devices.h"
#include "snapshot.h"

/* ---- detection ---- */

/* True if the bytes contain the word as a string of a pickle: preceded by its length in one or four bytes. */
static bool holds_text(const uint8_t *p, size_t n, const char *word) {
  const size_t length = strlen(word);
  for (size_t i = 1; i + length < n; i++) {
    if (memcmp(p + i, word, length) != 0) continue;
    if (p[i - 1] == length || (i >= 4 && p[i - 4] == length && !p[i - 3] && !p[i - 2] && !p[i - 1])) return true;
  }
  return false;
}

/* Returns the score of a pickle that starts with a dict and has one of the snapshot's top-level keys near its start; otherwise
 * 0. */
unsigned torch_memory_bid(const uint8_t *p, size_t n) {
  static const char *const KEYS[] = {"segments", "device_traces", "allocator_settings", "external_annotations"};
  enum { NEAR = 96 };
  if (n < 8 || p[0] != 0x80 || p[1] < 2 || p[1] > 5 || !memchr(p, '}', n < 16 ? n : 16)) return 0;
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
    if (holds_text(p, n < NEAR ? n : NEAR, KEYS[i])) return 16 + 8 * (unsigned)strlen(KEYS[i]);
  return 0;
}

/* ---- reading ---- */

static bool snapshot_tick(void *arg) {
  const struct snapshot *s = arg;
  const struct tk_progress p = s->progress;
  if (!mem_check(&s->t->store->mem, s->err)) return false;
  if (!p.tick || p.tick(p.arg, in_raw_read(s->pickle.in), in_raw_total(s->pickle.in))) return true;
  return err_set(s->err, TK_EINTERRUPTED, "interrupted");
}

/* Finds the earliest time. Returns false if no event has one. */
static bool find_first(const struct snapshot *s, int64_t *first) {
  bool found = false;
  for (uint32_t i = 0; i < s->of[SNAPSHOT_EVENT].n; i++) {
    const struct snapshot_event *e = snapshot_event(s, i);
    if (e->has_time && e->time_us > 0 && (!found || e->time_us < *first)) *first = e->time_us, found = true;
  }
  return found;
}

struct numbering {
  struct snapshot *s;
  int64_t last;
};

static void number_event(void *arg, int64_t event) {
  struct numbering *n = arg;
  struct snapshot_event *e = (struct snapshot_event *)n->s->of[SNAPSHOT_EVENT].p + event;
  e->time_us = ++n->last;
  e->has_time = true;
}

/* Uses the order of events as their times. */
static void number_events(struct snapshot *s, const struct pickle_value *root) {
  uint32_t n;
  struct map seen; /* numbered lists of events; a damaged file may repeat a list */
  const struct pickle_value *devices = pickle_items(&s->pickle, pickle_member(&s->pickle, root, WORD_DEVICE_TRACES), &n);
  map_init(&seen, &s->t->store->mem);
  for (uint32_t i = 0; i < n; i++) {
    struct numbering numbering = {s, 0};
    uint32_t *times = map_put(&seen, (uint64_t)devices[i].i, 0);
    if (times && !(*times)++) snapshot_each(s, &devices[i], SNAPSHOT_EVENT, number_event, &numbering);
  }
  map_free(&seen);
  s->is_ordered = true;
  trace_note(s->t, TK_NOTE_REPAIR, UINT64_MAX,
             "the events have no times (PyTorch before 2.1, torch_npu): shown in their order, 1 us apart");
}

static bool add_events(struct snapshot *s, const struct pickle_value *root) {
  static const int64_t MOST_US = INT64_MAX / 1000;
  int64_t first = 0;
  if (!s->of[SNAPSHOT_EVENT].n) {
    trace_note(s->t, TK_NOTE_INFO, UINT64_MAX,
               "the snapshot has no history: call torch.cuda.memory._record_memory_history() before the part to be recorded");
    return true;
  }
  if (!find_first(s, &first)) number_events(s, root);
  if (s->is_ordered) first = 1;
  if (first > MOST_US) return err_set(s->err, TK_EFORMAT, "the times of the snapshot are too large");
  if (!s->is_ordered) {
    s->t->origin_ns = first * 1000;
    s->t->clock = TK_CLOCK_REALTIME;
    s->t->store->clock_from = "time_us of the snapshot";
  }
  devices_add(s, root, first);
  return true;
}

static bool is_snapshot(const struct snapshot *s, const struct pickle_value *root) {
  return pickle_member(&s->pickle, root, WORD_SEGMENTS) || pickle_member(&s->pickle, root, WORD_DEVICE_TRACES);
}

static bool read_snapshot(struct snapshot *s, bool strict) {
  static const char CUT[] = "the pickle is truncated: only the part before the cut was read, so all amounts of memory may be wrong";
  struct pickle_value root;
  if (!pickle_read(&s->pickle, &root)) return false;
  if (!is_snapshot(s, &root))
    return err_set(s->err, TK_EFORMAT, "not a PyTorch memory snapshot: it has neither segments nor device_traces");
  if (s->pickle.truncated) {
    if (strict) return err_set(s->err, TK_ECORRUPT, "%s", CUT);
    trace_note(s->t, TK_NOTE_REPAIR, in_offset(s->pickle.in), CUT);
    s->t->truncated = true;
  }
  s->t->counts.bytes = in_offset(s->pickle.in);
  return add_events(s, &root);
}

bool torch_memory_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct snapshot s;
  snapshot_init(&s, t, in, err);
  s.progress = opt->progress;
  s.pickle.tick = snapshot_tick;
  const bool ok = read_snapshot(&s, opt->strict);
  snapshot_free(&s);
  return ok && mem_check(&t->store->mem, err);
}
