/* accelerator_spans.c - finds queues of devices by their spans. See accelerator.h.
 *
 * Programs that write the records of CUPTI themselves name neither process nor category: kernels are C++ signatures, and copies are
 * called "[MEMCPY] DtoH". A name alone proves little, because programs on a host run functions with such signatures. So a thread is a
 * queue only if nothing on it is nested or host work, and if besides a kernel there is a copy, an id of the launch, or a name such as
 * "stream 7".
 *
 * MindSpore names neither processes nor threads, up to version 1.6 (profiler/parser/integrator.py). The args of its spans show work of
 * the device whose number is the pid, by stream. Two other pids show more work of this device. */
#include "accelerator.h"

#include <string.h>

#include "args.h"
#include "base/text.h"
#include "kind.h"
#include "kind_collective.h"

/* ---- names ---- */

static bool is_device_copy(const char *name) {
  static const char *const WORDS[] = {ACCELERATOR_COPIES, ACCELERATOR_FILLS, NULL};
  return text_any_begins(name, WORDS);
}

/* True for the name of a kernel as the compiler mangles or demangles it. A demangled kernel name begins with the result type,
 * void, only if the kernel is a template; tools that trace C++ functions of a host write the type for all functions. */
static bool is_kernel(const char *name) {
  const char *args = strchr(name, '('), *template = strchr(name, '<');
  if (text_begins(name, "_Z")) return strstr(name, "ernel") != NULL;
  if (!args && !template) return false;
  if (text_begins(name, "void ") && template && (!args || template < args || text_begins(name + 5, "(anonymous"))) return true;
  return strstr(name, "_kernel") != NULL || strstr(name, "Kernel") != NULL;
}

static bool is_aiu_core(const char *name) { return accelerator_aiu(name) & (KIND_KERNEL | KIND_WAIT) && strstr(name, " Cmpt "); }

/* ---- MindSpore ---- */

/* These keys are read even if a command needs no args (args_decide). */
static const char ASCEND[] = "fullname", CUDA[] = "op_full_name";

/* Pids of the work on a device's own CPUs, and of the collectives of all steps. */
enum { PID_AI_CPU = 9000, PID_COLLECTIVES = 10000 };

/* True if the arg is a scope path whose last part is the name. */
static bool is_path_of(const struct tk_trace *t, const struct tk_arg *arg, const char *name) {
  if (arg->type != TK_ARG_STR) return false;
  const char *path = tk_string(t, arg->s, NULL), *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* Returns the family of the device if the args of the span are those of MindSpore's work; otherwise NULL. */
static const char *family_by_args(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_arg arg;
  const char *name = tk_string(t, t->classes[e->cls].name, NULL);
  if (tk_args_find(t, e->args, ASCEND, &arg) && is_path_of(t, &arg, name) && tk_args_find(t, e->args, "type", &arg)) return "NPU";
  return tk_args_find(t, e->args, CUDA, &arg) && tk_args_find(t, e->args, "grid_dim", &arg) ? "GPU" : NULL;
}

bool accelerator_spans_is_part(const struct tk_trace *t, tk_id process) {
  const struct tk_track *k = &t->tracks[process];
  const bool is_pid = k->pid.kind == TK_IDENT_INT && (k->pid.num == PID_AI_CPU || k->pid.num == PID_COLLECTIVES);
  return is_pid && !k->name && trace_text_id(t, ASCEND);
}

static bool is_ai_cpu(const struct tk_trace *t, const struct tk_track *k) {
  return accelerator_spans_is_part(t, k->parent) && t->tracks[k->parent].pid.num == PID_AI_CPU;
}

/* ---- threads ---- */

/* Facts about the spans of a thread. */
struct spans {
  bool any;                   /* any spans */
  bool copies, kernels, host; /* any copies, any kernels; host work or nesting */
  bool linked;                /* each span has the id of its launch */
  bool aiu;                   /* each span has a name of an AIU */
  bool listed;                /* each span has the args of MindSpore's work */
  bool collectives;           /* each span is a collective of MindSpore */
};

/* This key is read even if a command needs no args (args_decide). */
static const char LINK[] = "correlationId";

static struct spans look(const struct tk_trace *t, const struct tk_track *k, tk_id link) {
  struct tk_arg arg;
  struct spans s = {.linked = true, .aiu = true, .listed = true, .collectives = true};
  for (tk_id i = k->first; i < k->first + k->count && (!s.host || s.aiu || s.listed || s.collectives); i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN) continue;
    const char *name = tk_string(t, t->classes[e->cls].name, NULL);
    bool bare;
    const unsigned kinds = accelerator_class(name, tk_string(t, t->classes[e->cls].cat, NULL), &bare);
    s.any = true;
    s.aiu = s.aiu && bare && accelerator_aiu(name);
    s.listed = s.listed && bare && family_by_args(t, e);
    s.collectives = s.collectives && bare && kind_collective_of_stream(name);
    s.host = s.host || !bare || kinds || e->depth > 0 || *name == '$' || accelerator_name(name) & (KIND_OP | KIND_RUNTIME);
    s.copies = s.copies || is_device_copy(name);
    s.kernels = s.kernels || is_kernel(name);
    s.linked = s.linked && link && args_of_event(t, e, link, &arg);
  }
  return s;
}

/* True for a name such as "stream 7" or "CUDA stream 7". */
static bool is_stream(const char *name) {
  static const char *const BEFORE[] = {"CUDA ", "GPU ", "HIP ", "cuda ", "gpu ", "hip ", NULL};
  for (const char *const *word = BEFORE; *word; word++)
    if (text_begins(name, *word)) name += strlen(*word);
  name += strspn(name, "0123456789 :");
  return ascii_equal(name, "stream", 6);
}

static bool is_queue_by(const struct spans *s, const char *thread) {
  if (s->any && (s->listed || s->collectives)) return true;
  return !s->host && (s->copies || (s->kernels && (s->linked || is_stream(thread))));
}

bool accelerator_spans(const struct tk_trace *t, uint32_t *roles) {
  bool any = trace_text_id(t, ASCEND) || trace_text_id(t, CUDA), aiu = false;
  const tk_id link = trace_text_id(t, LINK);
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const char *name = tk_string(t, t->classes[i].name, NULL);
    aiu = aiu || is_aiu_core(name);
    any = any || aiu || is_device_copy(name) || is_kernel(name);
  }
  if (!any) return false;
  any = false;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (roles[i] || k->kind != TK_TRACK_THREAD || k->hidden || !k->count) continue;
    if (strstr(tk_string(t, t->tracks[k->parent].name, NULL), "/device:")) continue;
    const struct spans s = look(t, k, link);
    if (!(aiu && s.aiu) && !is_ai_cpu(t, k) && !is_queue_by(&s, tk_string(t, k->name, NULL))) continue;
    roles[i] = KIND_DEVICE | KIND_KERNEL;
    any = true;
  }
  return any;
}

static const char *family_of(const struct tk_trace *t, const struct tk_track *k) {
  const struct tk_event *e = &t->events[k->first];
  const char *name = tk_string(t, t->classes[e->cls].name, NULL), *family = family_by_args(t, e);
  if (family) return family;
  if (kind_collective_of_stream(name) || is_ai_cpu(t, k)) return "NPU";
  return accelerator_aiu(name) ? "AIU" : "GPU";
}

bool accelerator_spans_is_whole(const struct tk_trace *t, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  return k->kind == TK_TRACK_THREAD && k->count && family_by_args(t, &t->events[k->first]) && !accelerator_spans_is_part(t, k->parent);
}

struct accelerator accelerator_spans_device(const struct tk_trace *t, tk_id process, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  const struct tk_ident pid = t->tracks[process].pid;
  struct accelerator a = {k->count ? family_of(t, k) : "GPU", -1};
  const bool is_mindspore = accelerator_spans_is_part(t, k->parent) || accelerator_spans_is_whole(t, track);
  const bool is_by_pid = strcmp(a.family, "AIU") == 0 || (is_mindspore && !accelerator_spans_is_part(t, process));
  if (is_by_pid && pid.kind == TK_IDENT_INT) a.number = pid.num;
  return a;
}
