/* json.c - prints a report as JSON (schemas/job.schema.json). */
#include "json.h"
#include "print/figures.h"
#include "print/tty.h"

#include <string.h>

static void json_known(struct json *j, const char *key, const char *text) {
  if (*text) json_string(j, key, text);
  else json_null(j, key);
}

static void json_rank(struct json *j, const char *key, int64_t rank) {
  if (rank >= 0) json_int(j, key, rank);
  else json_null(j, key);
}

static void json_texts(struct json *j, const char *key, const char *const *texts, size_t n) {
  json_open(j, key, '[');
  for (size_t i = 0; i < n; i++) json_string(j, NULL, texts[i]);
  json_close(j, ']');
}

static void json_spread(struct json *j, const struct tk_report_spread *s) {
  if (!s->count) {
    json_null(j, "step");
    return;
  }
  json_open(j, "step", '{');
  json_uint(j, "count", s->count);
  json_uint(j, "outliers", s->outliers);
  figure_ns(j, "min_ns", s->min);
  figure_ns(j, "max_ns", s->max);
  figure_ns(j, "mean_ns", s->mean);
  figure_ns(j, "p50_ns", s->p50);
  figure_ns(j, "p95_ns", s->p95);
  figure_ns(j, "deviation_ns", s->deviation);
  json_close(j, '}');
}

static void json_step(struct json *j, const struct tk_report_rank *r, const struct tk_report_step *s) {
  const struct tk_device_times *t = &s->times;
  json_open(j, NULL, '{');
  json_int(j, "number", s->number);
  figure_ns(j, "duration_ns", s->dur);
  json_bool(j, "outlier", s->outlier);
  if (*r->device) {
    figure_ns(j, "busy_ns", t->busy);
    figure_ns(j, "idle_ns", t->idle);
    figure_ns(j, "compute_ns", t->compute);
    figure_ns(j, "communication_ns", t->communication);
    figure_ns(j, "memory_ns", t->memory);
    figure_ns(j, "overlap_ns", t->overlap);
    figure_ns(j, "exposed_communication_ns", t->exposed_communication);
    figure_ns(j, "exposed_copy_ns", t->exposed_copy);
    figure_ns(j, "exposed_fill_ns", t->exposed_fill);
  }
  json_close(j, '}');
}

static void json_stream(struct json *j, const struct tk_report_rank *r, const struct tk_report_stream *s) {
  char text[32];
  json_open(j, NULL, '{');
  json_string(j, "stream", s->name);
  json_uint(j, "work", s->work);
  figure_ns(j, "busy_ns", s->busy);
  if (r->linked) {
    figure_ns(j, "idle_host_ns", s->idle_host);
    figure_ns(j, "idle_kernel_ns", s->idle_kernel);
    figure_ns(j, "idle_other_ns", s->idle_other);
    json_uint(j, "queue_max", s->queue_most);
    json_raw(j, "queue_mean", tty_fraction(s->queue_mean, 3, text));
  }
  json_close(j, '}');
}

static void json_row(struct json *j, const struct tk_report_rank *r) {
  json_open(j, NULL, '{');
  json_rank(j, "rank", r->rank);
  json_known(j, "host", r->host);
  json_string(j, "input", r->input);
  json_known(j, "device", r->device);
  figures_json(j, r);
  json_spread(j, &r->step);
  json_open(j, "steps", '[');
  for (size_t i = 0; i < r->n_steps; i++) json_step(j, r, &r->steps[i]);
  json_close(j, ']');
  json_open(j, "streams", '[');
  for (size_t i = 0; i < r->n_streams; i++) json_stream(j, r, &r->streams[i]);
  json_close(j, ']');
  json_close(j, '}');
}

/* Writes a rate in GB/s (10^9 bytes per second); null if the bytes or the time are unknown. */
static void json_rate(struct json *j, const char *key, double bytes, double seconds) {
  char text[32];
  if (seconds > 0 && bytes > 0) json_raw(j, key, tty_fraction(bytes / seconds / 1e9, 3, text));
  else json_null(j, key);
}

static double seconds(struct tk_total t) { return (double)t.s + (double)t.ps / 1e12; }

static void json_kernel(struct json *j, const struct tk_report_kernel *k) {
  char text[32];
  json_open(j, NULL, '{');
  json_text(j, "name", k->name, k->name_len);
  json_string(j, "kind", k->kind);
  json_uint(j, "count", k->count);
  figure_total(j, "total_ns", k->total);
  figure_ns(j, "min_ns", k->min);
  figure_ns(j, "max_ns", k->max);
  figure_ns(j, "mean_ns", k->mean);
  json_raw(j, "percent_of_sum", tty_fraction(100 * k->of_sum, 3, text));
  if (k->bytes_known) {
    figure_number(j, "bytes", k->bytes);
    json_rate(j, "gb_per_s", k->bytes, (double)k->bytes_time / 1e12);
  }
  json_close(j, '}');
}

static void json_launch(struct json *j, const struct tk_report_launch *l) {
  json_open(j, NULL, '{');
  json_string(j, "name", l->name);
  json_uint(j, "work", l->work);
  figure_total(j, "call_ns", l->call_sum);
  figure_total(j, "work_ns", l->work_sum);
  figure_total(j, "delay_ns", l->delay_sum);
  figure_ns(j, "delay_max_ns", l->delay_max);
  json_close(j, '}');
}

static void json_collective(struct json *j, const struct tk_report_collective *c) {
  json_open(j, NULL, '{');
  json_string(j, "name", c->name);
  json_uint(j, "count", c->count);
  figure_total(j, "total_ns", c->total);
  json_uint(j, "sized", c->sized);
  if (c->sized) figure_number(j, "bytes", c->bytes);
  if (c->sized) json_rate(j, "bus_gb_per_s", c->bus_bytes, seconds(c->sized_total));
  json_uint(j, "met", c->met);
  if (c->met) {
    figure_total(j, "shortest_ns", c->core);
    figure_total(j, "wait_ns", c->wait);
  }
  if (c->core_sized) json_rate(j, "shortest_bus_gb_per_s", c->core_bus_bytes, seconds(c->core_time));
  json_close(j, '}');
}

static void json_meeting(struct json *j, const struct tk_report_meeting *m) {
  json_open(j, NULL, '{');
  json_int(j, "rank", m->rank);
  json_uint(j, "met", m->met);
  json_uint(j, "last", m->last);
  figure_total(j, "wait_ns", m->wait);
  figure_total(j, "cost_ns", m->cost);
  json_close(j, '}');
}

static void json_memory(struct json *j, const struct tk_report_memory *m) {
  json_open(j, NULL, '{');
  json_rank(j, "rank", m->rank);
  json_string(j, "allocator", m->allocator);
  if (m->peak_allocated >= 0) figure_number(j, "peak_allocated_bytes", m->peak_allocated);
  if (m->peak_reserved >= 0) figure_number(j, "peak_reserved_bytes", m->peak_reserved);
  figure_ns(j, "peak_at_ns", m->at);
  json_close(j, '}');
}

void report_print_json(const struct tk_report *r, size_t top) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_string(&j, "format", r->format ? r->format : "");
  json_uint(&j, "inputs", r->inputs);
  json_texts(&j, "devices", r->devices, r->n_devices);
  json_texts(&j, "versions", r->versions, r->n_versions);
  json_texts(&j, "unknown", r->unknown, r->n_unknown);
  json_open(&j, "ranks", '[');
  for (size_t i = 0; i < r->n_ranks; i++) json_row(&j, &r->ranks[i]);
  json_close(&j, ']');
  figure_total(&j, "work_ns", r->work);
  json_uint(&j, "kernels_in_all", r->n_kernels);
  json_open(&j, "kernels", '[');
  for (size_t i = 0; i < r->n_kernels && i < top; i++) json_kernel(&j, &r->kernels[i]);
  json_close(&j, ']');
  json_open(&j, "launches", '[');
  for (size_t i = 0; i < r->n_launches; i++) json_launch(&j, &r->launches[i]);
  json_close(&j, ']');
  json_open(&j, "collectives", '[');
  for (size_t i = 0; i < r->n_collectives; i++) json_collective(&j, &r->collectives[i]);
  json_close(&j, ']');
  json_uint(&j, "collectives_met", r->met);
  json_open(&j, "waits", '[');
  for (size_t i = 0; i < r->n_meetings; i++) json_meeting(&j, &r->meetings[i]);
  json_close(&j, ']');
  json_open(&j, "memory", '[');
  for (size_t i = 0; i < r->n_memories; i++) json_memory(&j, &r->memories[i]);
  json_close(&j, ']');
  json_close(&j, '}');
}
