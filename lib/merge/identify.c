/* identify.c - gives ranks to inputs that state none (identify.h). This must wait until all inputs were read, because a rank that the
 * contents of a later input state is not free. */
#include "identify.h"

#include "graph/trace.h"
#include "order.h"
#include "select.h"

/* Selects or skips an input whose rank was unknown when the input was read. */
static void select_again(struct merge_alignment *out, struct align_input *input, size_t i, const struct tk_merge_options *opt) {
  const bool wanted = merge_wants_rank(opt, input->rank);
  struct tk_trace *kept = wanted ? NULL : out->kept[i];
  input->wanted = wanted;
  out->skipped[i] = !wanted;
  if (!kept) return;
  out->kept_bytes -= kept->store->mem.used;
  out->kept[i] = NULL;
  tk_free(kept);
}

void merge_identify(struct merge_alignment *out, struct align_input *inputs, size_t n, const struct tk_merge_options *opt) {
  for (size_t i = 0; i < n; i++) {
    const struct align_input *input = &inputs[i];
    const int64_t rank = !input->read ? INT64_MAX : input->stated ? input->rank : -1;
    out->who[i] = (struct merge_who){input->host, rank, input->merged};
  }
  merge_give_ranks(out->who, n);
  for (size_t i = 0; i < n; i++) {
    if (!inputs[i].read || inputs[i].rank == out->who[i].rank) continue;
    inputs[i].rank = out->who[i].rank;
    select_again(out, &inputs[i], i, opt);
  }
}
