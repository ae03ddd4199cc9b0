/* report_base.c - helpers shared by the parts of a report (report.h). */
#include "report.h"

#include <string.h>

#include "base/num.h"
#include "fold.h"
#include "graph/args.h"
#include "work_devices.h"
#include "work_names.h"

const char *report_keep(struct tk_report_impl *impl, const void *p, size_t n) {
  uint32_t id = intern(&impl->texts, p, n);
  return id ? (const char *)impl->texts.strs[id].bytes : "";
}

const char *report_text(struct tk_report_impl *impl, const char *text) { return report_keep(impl, text, strlen(text)); }

uint32_t report_name(struct tk_report_impl *impl, const char *name, size_t n) {
  return fold_varying(&impl->folded, &name, &n) ? intern(&impl->texts, name, n) : 0;
}

uint32_t report_class_name(struct reporter *p, tk_id cls) {
  size_t n;
  if (!p->names) p->names = mem_zeros(p->mem, (uint64_t)p->t->n_classes + 1, sizeof *p->names);
  if (!p->names) return 0;
  if (p->names[cls]) return p->names[cls];
  const char *name = tk_string(p->t, p->t->classes[cls].name, &n);
  return p->names[cls] = report_name(p->impl, name, n);
}

const char *report_keep_name(struct reporter *p, tk_id string) {
  size_t n;
  const char *name = tk_string(p->t, string, &n);
  const uint32_t id = string ? report_name(p->impl, name, n) : 0;
  return id ? (const char *)p->impl->texts.strs[id].bytes : "";
}

const char *report_name_of(struct reporter *p, tk_id event) {
  return event ? report_keep_name(p, p->t->classes[p->t->events[event].cls].name) : "";
}

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

enum host_class report_named_class(const struct reporter *p, tk_id cls) {
  uint8_t *class = &p->host_class[cls];
  const struct tk_trace *t = p->t;
  if (*class == HOST_CLASSES) /* not known yet */
    *class = (uint8_t)host_names_class(tk_string(t, t->classes[cls].name, NULL), tk_string(t, t->classes[cls].cat, NULL));
  return (enum host_class)*class;
}

enum host_class report_class_of(const struct reporter *p, tk_id event, unsigned kind) {
  const enum host_class class = host_names_class_of(report_named_class(p, p->t->events[event].cls), kind);
  if (class < HOST_SYNC && p->launches[event] & REPORT_AWAITED) return HOST_SYNC;
  return class == HOST_RUNTIME && p->launches[event] ? HOST_LAUNCH : class;
}

uint8_t report_traits(struct reporter *p, tk_id cls) {
  if (!p->traits[cls]) p->traits[cls] = work_names_traits(tk_string(p->t, p->t->classes[cls].name, NULL));
  return p->traits[cls];
}

bool report_is_pageable(struct reporter *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event];
  struct tk_arg arg;
  if (report_traits(p, e->cls) & WORK_PAGEABLE) return true;
  if (!p->copy_details || !args_of_event(p->t, e, p->copy_details, &arg)) return false;
  if (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF) return false;
  return strstr(tk_string(p->t, arg.s, NULL), "pageable") != NULL;
}

bool report_holds_step(const struct reporter *p, const struct step *s) {
  return s->start < p->scope.window.end && s->end > p->scope.window.start;
}

bool report_asks_for(const struct reporter *p, const struct step *s) {
  const struct tk_selection *by = &p->impl->opt.select;
  struct tk_range asked;
  if (by->step_range && (s->number < by->step_range->first || s->number > by->step_range->last)) return false;
  return !by->steps || !tk_parse_range(by->steps, &asked) || (s->number >= asked.first && s->number <= asked.last);
}

/* ---- args ---- */

double report_number(const struct tk_trace *t, const struct tk_arg *arg, bool *is) {
  const char *text;
  *is = true;
  switch (arg->type) {
  case TK_ARG_INT: return (double)arg->i;
  case TK_ARG_UINT: return (double)arg->u;
  case TK_ARG_DECIMAL: return num_nearest(arg->i, arg->exp);
  case TK_ARG_DOUBLE: return arg->d;
  case TK_ARG_NUMBER:
  case TK_ARG_STR:
    text = tk_string(t, arg->s, NULL);
    if (*text >= '0' && *text <= '9') return num_double(text, strlen(text));
    break;
  default: break;
  }
  *is = false;
  return 0;
}

bool report_number_of(const struct tk_trace *t, const struct tk_event *e, tk_id key, double *v) {
  struct tk_arg arg;
  bool is = false;
  if (key && args_of_event(t, e, key, &arg)) *v = report_number(t, &arg, &is);
  return is;
}

tk_id report_key_of(const struct tk_trace *t, const char *key) {
  return intern_id(&t->store->strings, key, strlen(key));
}

const char *report_device(struct reporter *p, const struct work_row *w) {
  struct buf text = {.mem = p->mem};
  work_devices_name(&p->match.kinds, w->process, w->track, &p->family, &text);
  const char *name = report_keep(p->impl, text.data, text.len);
  buf_free(&text);
  return name;
}
