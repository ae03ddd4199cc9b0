/* barrier.c - see barrier.h. */
#include "barrier.h"

#include <string.h>

#include "format/json.h"

/* Metadata events that record an instant that all inputs have in common. */
static const struct barrier_row {
  const char *name;   /* end of the event's name */
  const char *member; /* key of the arg with the time in microseconds */
  bool is_start;      /* true: the value is the host clock's reading at ts 0; false: the trace clock's reading at the barrier */
} BARRIERS[] = {
    /* Composer, composer/profiler/json_trace_handler.py */
    {"\"clock_sync_timestamp_us\"", "value", false},
    /* intel/opencl-intercept-layer, its ChromeTracer: clintercept_start_time; pti-gpu writes the number as text */
    {"_start_time\"", "start_time", true},
};

static bool barrier_of_record(const char *text, size_t n, const struct barrier_row *row, int64_t *ns) {
  static const char ARGS[] = "\"args\":";
  struct json_value v;
  i128 value;
  if (!memmem(text, n, row->name, strlen(row->name))) return false;
  const char *args = memmem(text, n, ARGS, sizeof ARGS - 1);
  if (args) args += sizeof ARGS - 1;
  if (!args || !json_member(args, n - (size_t)(args - text), row->member, &v)) return false;
  if (v.type == JSON_STRING) v.p = v.str.p, v.end = v.p + v.str.n;
  else if (v.type != JSON_NUMBER) return false;
  if (!num_scaled(v.p, v.end, 3, &value) || value > INT64_MAX / 2 || value < 0) return false;
  *ns = row->is_start ? -(int64_t)value : (int64_t)value;
  return true;
}

void barrier_find(struct align_input *input, const struct tk_trace *t, int64_t later) {
  enum { FIRST = 4096 }; /* number of records to search; these events are at the start */
  int64_t ns = 0;
  for (tk_id i = 1; i <= t->n_records && i <= FIRST && !input->has_barrier; i++) {
    const struct tk_record *r = &t->records[i];
    if (r->phase != 'M' || r->kind != TK_RECORD_OTHER) continue;
    for (size_t k = 0; k < sizeof BARRIERS / sizeof *BARRIERS && !input->has_barrier; k++) {
      input->has_barrier = barrier_of_record(trace_raw(t, r->at), r->size, &BARRIERS[k], &ns);
      input->starts_on_host = input->has_barrier && BARRIERS[k].is_start;
    }
    if (input->has_barrier) input->has_barrier = !__builtin_add_overflow(ns, later, &input->barrier_ns);
  }
}

static bool is_alone(const struct align_input *inputs, size_t n, size_t at) {
  for (size_t i = 0; i < n; i++)
    if (i != at && inputs[i].read && *inputs[i].host && strcmp(inputs[i].host, inputs[at].host) == 0) return false;
  return true;
}

/* True if the input's instant can align its clock. The time of a barrier can align the clock, unless another input is from the
 * same host and so shares the clock. The host time of ts 0 can do so, unless inputs are from different hosts. */
static bool is_usable(const struct align_input *inputs, size_t n, size_t at) {
  if (!inputs[at].starts_on_host) return is_alone(inputs, n, at);
  for (size_t i = 0; i < n; i++)
    if (inputs[i].read && *inputs[i].host && *inputs[at].host && strcmp(inputs[i].host, inputs[at].host) != 0) return false;
  return true;
}

bool barrier_apply(struct align_input *inputs, size_t n) {
  const struct align_input *first = NULL;
  for (size_t i = 0; i < n; i++) {
    if (!inputs[i].read) continue;
    if (!inputs[i].has_barrier || inputs[i].given || !is_usable(inputs, n, i)) return false;
    if (!first) first = &inputs[i];
    if (inputs[i].starts_on_host != first->starts_on_host) return false;
  }
  for (size_t i = 0; first && i < n; i++) {
    struct align_input *input = &inputs[i];
    if (!input->read || input == first || __builtin_sub_overflow(first->barrier_ns, input->barrier_ns, &input->given_ns)) continue;
    input->given = input->by_barrier = true;
  }
  return first != NULL;
}
