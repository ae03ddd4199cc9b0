/* vendor.c - tables of names and args of vendors' collectives. See vendor.h. */
#include "vendor.h"

#include <string.h>

#include "base/text.h"
#include "collector.h"
#include "payload.h"

/* ---- names ---- */

/* Forms of names: `head`, the operation, `separator`, the group, "_" and the index, in some names followed by "_" and the
 * iteration. */
static const struct name_row {
  const char *head, *separator;
} NAMES[] = {
    {"hcom_", "_AicpuKernel_"}, /* HCCL: msprof analysis, calculator for KFC operations */
    {"hcom_", "__"},            /* HCCL: msprof analysis, HcclCalculator; group: last 3 characters of its name */
};

static bool parse_index(const char *p, int64_t *index) {
  const uint8_t *end;
  const struct num n = num_scan((const uint8_t *)p, &end);
  if (n.kind != NUM_INT || n.mant < 0 || (*end && *end != '_')) return false;
  *index = n.mant;
  return true;
}

bool vendor_parse(const char *name, struct vendor_name *out) {
  for (const struct name_row *row = NAMES; row < NAMES + sizeof NAMES / sizeof *NAMES; row++) {
    const char *at = text_begins(name, row->head) ? strstr(name + strlen(row->head), row->separator) : NULL;
    if (!at) continue;
    const char *group = at + strlen(row->separator), *end = strchr(group, '_');
    *out = (struct vendor_name){.op = (size_t)(at - name), .index = -1};
    if (!end || end == group || !parse_index(end + 1, &out->index)) continue;
    out->group = group;
    out->group_size = (size_t)(end - group);
    return true;
  }
  return false;
}

/* ---- args ---- */

static const struct args_row {
  const char *type, *count;
} ARGS[] = {
    {"data_type", "count"}, /* HCCL: trace_view.json of msprof */
};

bool vendor_payload(const struct tk_trace *t, uint32_t args, struct vendor_payload *out) {
  for (const struct args_row *row = ARGS; row < ARGS + sizeof ARGS / sizeof *ARGS; row++)
    if (collect_text(t, args, row->type, &out->type) && collect_number(t, args, row->count, &out->count)) return out->count >= 0;
  return false;
}

/* Returns -1 for a gather or a scatter: their count is the count of one rank, and the number of ranks is not recorded. */
int64_t vendor_bytes(const struct tk_trace *t, const char *name, const struct vendor_payload *p) {
  static const char *const SAME[] = {"hcom_allReduce", "hcom_broadcast", "hcom_reduce_", "hcom_send", "hcom_receive", NULL};
  int64_t bytes;
  const int64_t size = text_any_begins(name, SAME) ? payload_element(tk_string(t, p->type, NULL)) : 0;
  return size && !__builtin_mul_overflow(size, p->count, &bytes) ? bytes : -1;
}
