/* merging.c - options that merge, plan and view have in common (merging.h). */
#include "merging.h"

const struct opt_word merging_align_words[] = {
  { "auto", TK_ALIGN_AUTO, "align hosts by the collectives of their ranks if that is reliable, otherwise as with clock" },
  { "clock", TK_ALIGN_CLOCK, "align by absolute time, if the inputs record it" },
  { "collectives", TK_ALIGN_COLLECTIVES, "align by collectives even if that is unreliable" },
  { "marker=", TK_ALIGN_MARKER, "align the ends of the events with this name or pattern" },
  { "start", TK_ALIGN_START, "align the first events of all hosts" },
  { "none", TK_ALIGN_NONE, "keep the times as recorded" },
  { 0, 0, 0 },
};

const struct opt_word merging_group_words[] = {
  { "rank", TK_GROUP_RANK, "rank 0 first; the rows of each rank in their own order" },
  { "host", TK_GROUP_HOST, "ranks of one host together; the host with the lowest rank first" },
  { "kind", TK_GROUP_KIND, "CPUs of all ranks, then GPUs and TPUs of all ranks, then the rest" },
  { 0, 0, 0 },
};

void merging_options(const struct merging *m, struct tk_merge_options *options) {
  options->align = (enum tk_align)m->align.value;
  options->marker = m->align.text;
  options->clock_error = m->clock_error;
  options->reference = m->reference;
  options->offsets = m->offsets.v;
  options->n_offsets = m->offsets.n;
  options->offsets_from = m->offsets_from;
  options->anchor = m->anchor;
  options->collectives = m->collectives;
  options->link_collectives = m->link_collectives;
  options->ranks = m->ranks.v;
  options->n_ranks = m->ranks.n;
  options->every_rank = (uint32_t)m->every_rank;
  options->steps = m->step;
  options->time = m->time;
  options->to = m->to;
  options->to_zero = m->to_zero;
  options->label = m->label;
  options->group_by = (enum tk_group_by)m->group_by;
}
