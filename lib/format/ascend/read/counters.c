/* counters.c - reads tables of counter samples. To support another table, add a row to COUNTERS. */
#include "counters.h"

#include <stdio.h>
#include <string.h>

#include "graph/args.h"

enum { SERIES = 3 };

static const struct counter_row {
  const char *table, *process;
  enum ascend_row row;
  const char *time;
  const char *of;     /* column that distinguishes the counters of the table (text or number); NULL = the table has one counter */
  const char *name;   /* name of the counter, with %s for the value of `of` */
  const char *values[SERIES + 1];
} COUNTERS[] = {
    {"AICORE_FREQ", "AI Core Freq", ROW_FREQUENCY, "timestampNs", NULL, "AI Core Freq", {"freq", NULL}},
    {"HBM", "HBM", ROW_HBM, "timestampNs", "type", "HBM %s", {"bandwidth", NULL}},
    {"NPU_MEM", "NPU MEM", ROW_MEMORY, "timestampNs", "type", "NPU MEM %s", {"ddr", "hbm", NULL}},
    {"MEMORY_RECORD", "NPU MEM", ROW_MEMORY, "timestamp", "component", "memory of %s",
     {"totalAllocated", "totalReserved", "totalActive", NULL}},
};
enum { N_COUNTERS = sizeof COUNTERS / sizeof *COUNTERS };

struct sampling {
  struct ascend *r;
  const struct counter_row *row;
  tk_id keys[SERIES];
};

static tk_id name_of(struct sampling *s, const struct cell *of) {
  char text[120];
  struct tk_trace *t = s->r->d.t;
  const tk_id word = s->row->of && of->type != CELL_NULL ? database_text(&s->r->d, &s->r->texts, of) : 0;
  const char *at = strstr(s->row->name, "%s");
  if (!at) return trace_text(t, s->row->name);
  snprintf(text, sizeof text, "%.*s%.80s", (int)(at - s->row->name), s->row->name, tk_string(t, word, NULL));
  return trace_text(t, text);
}

static void take_sample(const struct sqlite_scan *row, void *arg) {
  struct sampling *s = arg;
  struct ascend *r = s->r;
  tk_time ts;
  if (!database_time(&r->d, &row->v[0], &ts)) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "samples without a time or a numeric value: skipped");
    return;
  }
  const int64_t device = row->v[1].type == CELL_INT ? row->v[1].i : 0;
  const tk_id process = ascend_process(r, s->row->row, device, s->row->process), name = name_of(s, &row->v[2]);
  args_begin(r->d.t);
  for (int i = 0; i < SERIES && s->row->values[i]; i++)
    if (row->v[3 + i].type != CELL_TEXT) database_arg(&r->d, s->keys[i], &row->v[3 + i]);
  database_sample(&r->d, database_counter(&r->d, process, name), ts);
}

static bool read_counter(struct ascend *r, const struct counter_row *row) {
  struct sampling s = {.r = r, .row = row};
  const char *columns[4 + SERIES] = {row->time, "deviceId", row->of ? row->of : "-"};
  for (int i = 0; i < SERIES && row->values[i]; i++) {
    columns[3 + i] = row->values[i];
    s.keys[i] = trace_text(r->d.t, row->values[i]);
  }
  return database_each(&r->d, row->table, columns, take_sample, &s);
}

bool ascend_read_counters(struct ascend *r) {
  for (int i = 0; i < N_COUNTERS; i++)
    if (!read_counter(r, &COUNTERS[i])) return false;
  return true;
}

bool ascend_is_counter(const char *table) {
  for (int i = 0; i < N_COUNTERS; i++)
    if (strcmp(COUNTERS[i].table, table) == 0) return true;
  return false;
}
