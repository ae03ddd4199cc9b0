/* findings_idle.c - figures about the idle time of a device that both the rules and the words of findings need (findings.h). */
#include "findings.h"

#include <stdlib.h>

struct finding_gap findings_gap_of(const struct tk_report_rank *row) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  struct finding_gap gap = {.at = row->gap_at, .length = steps ? 0 : row->gap, .in_step = steps};
  for (size_t i = 0; steps && i < row->n_steps; i++)
    if (row->steps[i].gap > gap.length) gap.at = row->steps[i].gap_at, gap.length = row->steps[i].gap;
  gap.most = gap.length > report_idle_of(&s) / 2 ? 1 : row->long_gaps;
  return gap;
}

double findings_queued(const struct tk_report_rank *row) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  const tk_time idle = report_idle_of(&s);
  return idle > 0 ? 100 * (double)row->queued / (double)idle : 0;
}

struct finding_cause findings_main_cause(const struct tk_report_split *s) {
  const struct finding_cause causes[] = {
    {s->host, "the host ran operators or Python"}, {s->launch, "the host was in calls that launch work"},
    {s->runtime, "the host was in other calls of the device's runtime, such as allocations"},
    {s->sync, "the host was in calls that wait for the device"}, {s->input, "the host loaded input"},
    {s->compile, "the host compiled"},
    {s->other, "the host slept, waited for a lock, collected garbage or saved a checkpoint"},
    {s->idle, "no host activity was recorded"}};
  struct finding_cause most = causes[0];
  for (size_t i = 1; i < sizeof causes / sizeof *causes; i++)
    if (causes[i].time > most.time) most = causes[i];
  return most;
}

bool findings_lacks_host(const struct tk_report_rank *row) {
  enum { NEARLY_ALL_PERCENT = 99 };
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  if (s.idle <= 0 || findings_main_cause(&s).time != s.idle) return false;
  return row->host_ops + row->runtime_calls == 0 || (double)s.idle * 100 >= (double)report_idle_of(&s) * NEARLY_ALL_PERCENT;
}

/* True if the host was in calls for most of the longest idle times that take as long only if they initialize the device or load code. A
 * launch usually takes less than 20 us; a call such as cudaMalloc, less than 10 ms. */
static bool is_first_use(const struct tk_report_rank *row, const struct tk_report_split *s) {
  const tk_time ms = 1000000000, most = findings_main_cause(s).time;
  const struct finding_gap gap = findings_gap_of(row);
  return gap.most && ((most == s->launch && gap.length >= ms) || (most == s->runtime && gap.length >= 100 * ms));
}

const char *findings_remedy(const struct tk_report_rank *row) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  const tk_time most = findings_main_cause(&s).time;
  if (row->capturing > report_idle_of(&s) / 2) return "; programs usually record graphs once, at their start: record after a warm-up";
  if (findings_is_stuck(row))
    return "; work that was launched and does not start waits for other work or another rank, or for work that was not recorded";
  if (is_first_use(row, &s))
    return "; calls that take this long usually initialize the device or load code, once: record after a warm-up";
  if (most == s.idle && !row->host_ops) return "; record the host's operators and Python, too, to see the rest";
  if (most == s.idle) return "; recording Python (with_stack=True in PyTorch) shows what runs between operators";
  if (findings_gap_of(row).most) return "";
  return most == s.host || most == s.launch ? "; compiling the model or replaying graphs takes launches off the host" : "";
}

uint64_t findings_blocks(const char *grid) {
  uint64_t blocks = 1;
  for (const char *at = grid; at && *at;) {
    char *end;
    const unsigned long long n = strtoull(at, &end, 10);
    if (end == at || n > UINT32_MAX || blocks > UINT32_MAX) return 0;
    blocks *= n;
    at = *end == ',' ? end + 1 : end;
    if (*end && *end != ',') return 0;
  }
  return grid && *grid ? blocks : 0;
}
