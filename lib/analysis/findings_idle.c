/* findings_idle.c - figures about the idle time of a device that both the rules and the words of findings need (findings.h). */
#include "findings.h"

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
