/* system.c - reads data about the system: ProcessTree (processes and threads) and SysStats (counters).
 *
 * Counters have the same names as in trace_processor (system_probes_parser.cc), which stores their CPU, zone or device
 * separately; here it is part of the name. */
#include "system.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "stat_names.h"

/* ---- processes ---- */

static void tree_process(struct perfetto *r, uint32_t machine, const struct pb_field *field) {
  struct pb c = pb_inside(field);
  struct pb_field f, first = {0};
  int64_t pid = PROC_UNKNOWN;
  unsigned n = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(TREE_PROCESS_PID, PB_VARINT)) pid = (int32_t)f.value;
    if (pb_field_key(&f) == PB_KEY(TREE_PROCESS_COMMAND, PB_BYTES) && n++ == 0) first = f;
  }
  if (pid < 0) return;
  /* A program that replaces its command line leaves a single text, so the name ends at the first space. */
  const uint8_t *blank = n == 1 && first.value ? memchr(first.p, ' ', (size_t)first.value) : NULL;
  if (blank) first.value = (uint64_t)(blank - first.p);
  if (first.value) proc_name(r, proc_process(r, machine, pid), perfetto_field_text(r, &first), PROC_BY_TREE);
  proc_thread(r, machine, pid, pid);
}

static void tree_thread(struct perfetto *r, uint32_t machine, const struct pb_field *field) {
  struct pb c = pb_inside(field);
  struct pb_field f;
  int64_t tid = PROC_UNKNOWN, pid = PROC_UNKNOWN;
  tk_id name = 0;
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(TREE_THREAD_TID, PB_VARINT): tid = (int32_t)f.value; break;
    case PB_KEY(TREE_THREAD_PID, PB_VARINT): pid = (int32_t)f.value; break;
    case PB_KEY(TREE_THREAD_NAME, PB_BYTES): name = perfetto_field_text(r, &f); break;
    default: break;
    }
  }
  if (tid >= 0) proc_name(r, proc_thread(r, machine, tid, pid), name, PROC_BY_TREE);
}

void system_tree(struct perfetto *r, const struct packet *k) {
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(TREE_PROCESS, PB_BYTES)) tree_process(r, k->machine, &f);
    if (pb_field_key(&f) == PB_KEY(TREE_THREAD, PB_BYTES)) tree_thread(r, k->machine, &f);
  }
}

/* ---- counters ---- */

struct stats {
  struct perfetto *r;
  uint32_t machine;
  struct proc_time at;
};

static void sample(struct stats *s, const char *name, const char *unit, int64_t value) {
  struct perfetto *r = s->r;
  const tk_id text = perfetto_text(r, (const uint8_t *)name, strlen(name));
  const uint32_t counter = proc_counter(r, s->machine, 0, text, unit ? trace_text(r->t, unit) : 0);
  if (counter) proc_sample(r, counter, s->at, value);
}

void system_cpu_sample(struct perfetto *r, uint32_t machine, const char *name, uint32_t cpu, struct proc_time at, int64_t value) {
  struct stats s = {r, machine, at};
  char text[96];
  snprintf(text, sizeof text, "%s (CPU %u)", name, cpu);
  sample(&s, text, NULL, value);
}

/* A message with a key (a number or a string) and a value. */
struct entry {
  uint64_t key, value;
  struct pb_field text;
};

static struct entry read_entry(const struct pb_field *field, uint32_t key, uint32_t value) {
  struct pb c = pb_inside(field);
  struct entry e = {.text = {.p = (const uint8_t *)""}};
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (f.number == key && f.wire == PB_BYTES) e.text = f;
    if (f.number == key && f.wire == PB_VARINT) e.key = f.value;
    if (f.number == value && f.wire == PB_VARINT) e.value = f.value;
  }
  return e;
}

static void memory(struct stats *s, const struct pb_field *field) {
  const struct entry e = read_entry(field, STATS_KEY, STATS_VALUE);
  const char *name = stat_names_memory(e.key);
  if (name) sample(s, name, "bytes", (int64_t)(e.value * 1024));
}

static void vm(struct stats *s, const struct pb_field *field) {
  const struct entry e = read_entry(field, STATS_KEY, STATS_VALUE);
  const char *name = stat_names_vm(e.key);
  if (name) sample(s, name, NULL, (int64_t)e.value);
}

static void cpu_times(struct stats *s, const struct pb_field *field) {
  static const char *const NAMES[] = {NULL, NULL, "user_ns", "user_nice_ns", "system_mode_ns", "idle_ns", "io_wait_ns", "irq_ns",
                                      "softirq_ns", "steal_ns"};
  enum { TIMES = sizeof NAMES / sizeof *NAMES };
  uint64_t times[TIMES] = {0}, cpu = UINT64_MAX;
  struct pb c = pb_inside(field);
  struct pb_field f;
  char text[64];
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(1, PB_VARINT)) cpu = f.value;
    else if (f.wire == PB_VARINT && f.number < TIMES) times[f.number] = f.value;
  }
  for (unsigned i = 2; i < TIMES && cpu != UINT64_MAX; i++) {
    snprintf(text, sizeof text, "cpu.times.%s", NAMES[i]);
    system_cpu_sample(s->r, s->machine, text, (uint32_t)cpu, s->at, (int64_t)times[i]);
  }
}

static void numbered(struct stats *s, const char *name, const struct pb_field *field) {
  const struct entry e = read_entry(field, 1, 2);
  char text[64];
  snprintf(text, sizeof text, "%s (id: %u)", name, (unsigned)e.key);
  sample(s, text, NULL, (int64_t)e.value);
}

static void pressure(struct stats *s, const struct pb_field *field) {
  static const char *const NAMES[] = {"resource.unspecified", "cpu.some", "cpu.full", "io.some", "io.full", "mem.some", "mem.full"};
  const struct entry e = read_entry(field, 1, 2);
  char text[64];
  if (e.key >= sizeof NAMES / sizeof *NAMES) return;
  snprintf(text, sizeof text, "psi.%s", NAMES[e.key]);
  sample(s, text, NULL, (int64_t)e.value);
}

/* Adds a counter whose name is a prefix and a name from the file. */
static void named(struct stats *s, const char *prefix, const struct entry *e, const char *unit) {
  char text[256];
  snprintf(text, sizeof text, "%s%.*s", prefix, (int)(e->text.value < 200 ? e->text.value : 200), (const char *)e->text.p);
  sample(s, text, unit, (int64_t)e->value);
}

static void thermal(struct stats *s, const struct pb_field *field) {
  enum { TEMPERATURE = 2, TYPE = 3 };
  const struct entry e = read_entry(field, TYPE, TEMPERATURE);
  named(s, "", &e, "C");
}

static void cpu_idle(struct stats *s, const struct pb_field *field) {
  enum { ENTRY = 2 };
  const uint64_t cpu = read_entry(field, 1, 0).key;
  struct pb c = pb_inside(field);
  struct pb_field f;
  char prefix[32];
  snprintf(prefix, sizeof prefix, "cpuidle%u.", (unsigned)cpu);
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(ENTRY, PB_BYTES)) continue;
    const struct entry e = read_entry(&f, 1, 2);
    named(s, prefix, &e, "us");
  }
}

static void frequency(struct stats *s, const struct pb_field *field) {
  const struct entry e = read_entry(field, STATS_KEY, STATS_VALUE);
  named(s, "", &e, NULL);
}

static void message(struct stats *s, const struct pb_field *f) {
  switch (f->number) {
  case STATS_MEMORY: memory(s, f); break;
  case STATS_VM: vm(s, f); break;
  case STATS_CPU: cpu_times(s, f); break;
  case STATS_IRQ: numbered(s, "num_irq", f); break;
  case STATS_SOFTIRQ: numbered(s, "num_softirq", f); break;
  case STATS_DEVICE_FREQUENCY: frequency(s, f); break;
  case STATS_PRESSURE: pressure(s, f); break;
  case STATS_THERMAL: thermal(s, f); break;
  case STATS_CPU_IDLE: cpu_idle(s, f); break;
  default: break; /* disks, slabs and free blocks: rates and sizes that need other packets */
  }
}

bool system_stats(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct stats s = {.r = r, .machine = k->machine};
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  uint32_t cpu = 0;
  if (!proc_packet_time(r, q, k, &s.at)) return false;
  while (pb_next(&c, &f)) {
    if (f.wire == PB_BYTES) message(&s, &f);
    if (f.wire != PB_VARINT) continue;
    if (f.number == STATS_FORKS) sample(&s, "num_forks", NULL, (int64_t)f.value);
    if (f.number == STATS_IRQS) sample(&s, "num_irq_total", NULL, (int64_t)f.value);
    if (f.number == STATS_SOFTIRQS) sample(&s, "num_softirq_total", NULL, (int64_t)f.value);
    if (f.number == STATS_CPU_FREQUENCY) system_cpu_sample(r, k->machine, "cpufreq", cpu++, s.at, (int64_t)f.value);
    if (f.number == STATS_GPU_FREQUENCY) sample(&s, "gpufreq", NULL, (int64_t)f.value);
  }
  return true;
}
