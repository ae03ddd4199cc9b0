/* report_device.c - names of devices in a report (report.h). */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "graph/accelerator.h"

/* Returns "GPU 3"; the family alone if the number is negative, such as the pid -1 of ONNX Runtime's kernels. */
static const char *numbered(struct reporter *p, const char *family, int64_t number) {
  char text[64];
  if (number < 0) return report_text(p->impl, family);
  const int len = snprintf(text, sizeof text - 24, "%s ", family);
  return report_keep(p->impl, text, (size_t)len + num_put_i64(text + len, number));
}

/* Returns the name of a device whose number may be stored only in its pid. */
static const char *unnumbered(struct reporter *p, const struct work_row *w, const char *process, size_t n) {
  const struct tk_ident pid = p->t->tracks[w->process].pid;
  const bool is_part = accelerator_is_part(p->t, w->process);
  if (!is_part && p->match.kinds.roles[w->track] & KIND_DEVICE) {
    const struct accelerator a = accelerator_spans_device(p->t, w->process, w->track);
    return a.number >= 0 ? numbered(p, a.family, a.number) : a.family;
  }
  if (pid.kind != TK_IDENT_INT || is_part) return n ? report_keep(p->impl, process, n) : "device";
  if (!p->family) p->family = accelerator_of_categories(p->t);
  return numbered(p, p->family, pid.num);
}

/* If nothing else in the trace gives the device's number, the pid of its process is the number, as in Kineto's traces. */
const char *report_device(struct reporter *p, const struct work_row *w) {
  const struct tk_track *k = &p->t->tracks[w->process];
  const struct accelerator whole = accelerator_of(p->t, w->process), a = whole.family ? whole : accelerator_of(p->t, w->track);
  char text[256];
  size_t n;
  const char *name = tk_string(p->t, k->name, &n), *plane = strstr(name, "/device:");
  if (plane && !accelerator_is_queue(p->t, w->process)) return report_text(p->impl, plane + 8);
  const bool is_by_pid = whole.family && strcmp(whole.family, "GPU") == 0 && k->pid.kind == TK_IDENT_INT;
  if (a.family && a.number < 0 && !is_by_pid) return a.family;
  if (!a.family) return unnumbered(p, w, name, n);
  if (a.number < 0) return numbered(p, p->family ? p->family : (p->family = accelerator_of_categories(p->t)), k->pid.num);
  /* Other tools that merge traces append the rank to each pid, so that the pid is a string. */
  const bool is_text = k->pid.kind == TK_IDENT_STR && (n || k->labels);
  const int len = snprintf(text, sizeof text, "%s %lld", a.family, (long long)a.number);
  const char *job = strstr(name, "/job:"), *end = job ? strstr(job, plane ? "/device:" : "/gpu:") : NULL; /* TensorFlow 1 */
  if (end) snprintf(text + len, sizeof text - (size_t)len, " of %.*s", end - job > 200 ? 200 : (int)(end - job), job);
  else if (is_text) snprintf(text + len, sizeof text - (size_t)len, " (%.200s)", tk_string(p->t, k->pid.str, NULL));
  return report_text(p->impl, text);
}
