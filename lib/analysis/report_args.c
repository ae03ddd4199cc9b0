/* report_args.c - see report_args.h. */
#include "report_args.h"

#include "report.h"

bool report_args_init(struct report_args *a, const struct tk_trace *t, struct mem *mem) {
  static const char *const KEYS[REPORT_ARGS] = {
      [ARG_BYTES] = "bytes", [ARG_MEMCPY_DETAILS] = "memcpy_details", [ARG_MEMSET_DETAILS] = "memset_details",
      [ARG_BYTES_ACCESSED] = "bytes_accessed", [ARG_FLOPS] = "flops", [ARG_COLLECTIVE] = "Collective name",
      [ARG_ELEMENTS_IN] = "In msg nelems", [ARG_ELEMENTS_OUT] = "Out msg nelems", [ARG_DTYPE] = "dtype",
      [ARG_GROUP_SIZE] = "Group size", [ARG_FROM_RANK] = "Src Rank", [ARG_TO_RANK] = "Dst Rank",
      [ARG_BLOCKS] = "blocks per SM", [ARG_OCCUPANCY] = "est. achieved occupancy %",
      [ARG_WARPS] = "warps per SM", [ARG_REGISTERS] = "registers per thread", [ARG_SHARED] = "shared memory", [ARG_GRID] = "grid",
      [ARG_BLOCK] = "block", [ARG_KERNEL_DETAILS] = "kernel_details", [ARG_SIZE] = "size", [ARG_DIRECTION] = "direction"};
  tk_id keys[REPORT_ARGS];
  for (int i = 0; i < REPORT_ARGS; i++) keys[i] = report_key_of(t, KEYS[i]);
  *a = (struct report_args){.t = t};
  return picks_init(&a->picks, t, keys, REPORT_ARGS, mem);
}

void report_args_free(struct report_args *a) { picks_free(&a->picks); }

void report_args_read(struct report_args *a, const struct tk_event *e) { a->known = picks_of(&a->picks, e, a->v); }

bool report_args_number(const struct report_args *a, enum report_arg which, double *v) {
  bool is = false;
  if (!(a->known >> which & 1)) return false;
  const double number = report_number(a->t, &a->v[which], &is);
  if (is) *v = number;
  return is;
}

const char *report_args_text(const struct report_args *a, enum report_arg which) {
  const struct tk_arg *arg = &a->v[which];
  const bool is_text = a->known >> which & 1 && (arg->type == TK_ARG_STR || arg->type == TK_ARG_REF);
  return is_text ? tk_string(a->t, arg->s, NULL) : NULL;
}
