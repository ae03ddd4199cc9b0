/* report_base.c - helpers shared by the parts of a report (report.h). */
#include "report.h"

#include <string.h>

const char *report_keep(struct tk_report_impl *impl, const void *p, size_t n) {
  uint32_t id = intern(&impl->texts, p, n);
  return id ? (const char *)impl->texts.strs[id].bytes : "";
}

const char *report_text(struct tk_report_impl *impl, const char *text) { return report_keep(impl, text, strlen(text)); }

struct tk_total report_total(i128 ps) {
  const i128 second = 1000000000000;
  return (struct tk_total){(int64_t)(ps / second), (int64_t)(ps % second)};
}

bool report_unknown(struct tk_report *r, const char *sentence) {
  struct tk_report_impl *impl = r->impl;
  for (size_t i = 0; i < r->n_unknown; i++)
    if (strcmp(r->unknown[i], sentence) == 0) return true;
  if (!mem_grow(&impl->mem, (void **)&r->unknown, &impl->cap_unknown, r->n_unknown + 1, sizeof *r->unknown)) return false;
  r->unknown[r->n_unknown++] = report_text(impl, sentence);
  return true;
}
