/* step_names.c - table of names. See step_names.h. */
#include "step_names.h"

#include <string.h>

#include "base/glob.h"
#include "base/map.h"
#include "base/regexp.h"
#include "base/text.h"

/* Rows in order of preference: rows of a single producer first, common words last. */
static const struct row {
  const char *begins, *holds; /* start of the name; text that must follow somewhere (NULL = none) */
  bool ordinal;               /* the name has no step number (numbers in it are sizes of batches), so steps are counted */
  bool whole;                 /* nothing may follow the start of the name */
} ROWS[] = {
    {"ProfileStep#", NULL, false, false},                /* Paddle, paddle/fluid/platform/profiler/chrometracing_logger.cc */
    {"execute_", "generation_", true, false},            /* vLLM, vllm/v1/worker/gpu_worker.py: annotate_profile */
    {"execute_new_", "_cached_", true, false},           /* vLLM 0.11, the same file */
    {"step[", "bs=", true, false},                       /* SGLang, python/sglang/srt/managers/scheduler.py */
    {"[Executor] _forward_step ", NULL, false, false},   /* TensorRT-LLM, tensorrt_llm/_torch/pyexecutor/py_executor.py */
    {"[pl][profile]run_training_batch", NULL, true, false}, /* Lightning, lightning/pytorch/profilers */
    {"model_run", NULL, true, true},              /* ONNX Runtime, onnxruntime/core/session/inference_session.cc */
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

/* Words that programs use for their own annotations, alone or followed by a number: "train_step", "iteration 12", "Step #3". */
static const char *const WORDS[] = {"train_step", "training_step", "train step", "training step", "iteration", "iter",
                                    "step",       "train",         NULL};

/* Returns the end of the name, before the source location that viztracer and others append: "train_step (train.py:7)". */
static const char *end_of(const char *name) {
  const char *end = name + strlen(name), *place = strstr(name, " (");
  return place && end[-1] == ')' && strchr(place, ':') ? place : end;
}

enum word { WORD_NONE, WORD_ALONE, WORD_NUMBERED };

static enum word word_of(const char *name) {
  const char *end = end_of(name);
  for (const char *const *word = WORDS; *word; word++) {
    const size_t n = strlen(*word);
    if (!ascii_equal(name, *word, n)) continue;
    const char *p = name + n;
    /* "step" or "train" without a number is too common to mark a step */
    if (p == end) return strchr(*word, '_') || strchr(*word, ' ') ? WORD_ALONE : WORD_NONE;
    p += strspn(p, " _#:=-");
    if (p < end && p + strspn(p, "0123456789") == end) return WORD_NUMBERED;
  }
  return WORD_NONE;
}

static bool is_row(const struct row *row, const char *name) {
  if (row->whole) return strcmp(name, row->begins) == 0;
  return text_begins(name, row->begins) && (!row->holds || strstr(name + strlen(row->begins), row->holds));
}

/* ---- patterns of users ---- */

static const char EVERY[] = "every:"; /* the pattern after this prefix matches events at which steps begin, not spans that are steps */

/* Returns the pattern without the prefix "every:". */
static const char *bare_pattern(const char *pattern) { return text_begins(pattern, EVERY) ? pattern + sizeof EVERY - 1 : pattern; }

static bool is_regexp(const char *pattern) {
  const size_t n = strlen(pattern);
  return n > 2 && *pattern == '/' && pattern[n - 1] == '/';
}

/* Compiles the expression between the slashes. `text` receives the expression and must outlive the result. */
static struct regexp *compile(const char *pattern, char *text, size_t size, struct mem *mem, char *why, size_t n_why) {
  const size_t n = strlen(pattern);
  if (n - 1 > size) return NULL;
  memcpy(text, pattern + 1, n - 2);
  text[n - 2] = 0;
  return regexp_new(text, mem, why, n_why);
}

bool step_names_check(const char *given, struct tk_err *err) {
  const char *pattern = bare_pattern(given);
  struct mem mem = {0};
  char text[1024], why[200] = "it is too long";
  if (!*pattern) return err_set(err, TK_EUSAGE, "empty pattern of step names");
  if (!is_regexp(pattern)) return true;
  struct regexp *r = compile(pattern, text, sizeof text, &mem, why, sizeof why);
  const bool ok = r != NULL;
  regexp_free(r);
  return ok || err_set(err, TK_EUSAGE, "invalid regular expression '%.200s': %s", pattern, why);
}

static bool mark_by_pattern(struct step_names *n, const struct tk_trace *t, struct mem *mem) {
  const char *pattern = bare_pattern(t->store->step_name);
  char text[1024], why[200];
  struct regexp *r = is_regexp(pattern) ? compile(pattern, text, sizeof text, mem, why, sizeof why) : NULL;
  if (is_regexp(pattern) && !r) return false;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const char *name = tk_string(t, t->classes[i].name, NULL);
    n->marks[i] = r ? regexp_matches(r, name) : glob_matches(pattern, name);
  }
  regexp_free(r);
  n->cuts = pattern != t->store->step_name;
  return true;
}

/* ---- marks ---- */

/* True if the profiler itself marked steps: ProfilerStep#N, the arg step_num, or a line called "Steps". */
static bool has_own_marks(const struct tk_trace *t) {
  if (trace_text_id(t, "step_num")) return true;
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (text_begins(tk_string(t, t->classes[i].name, NULL), "ProfilerStep#")) return true;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].count && strcmp(tk_string(t, t->tracks[i].name, NULL), "Steps") == 0) return true;
  return false;
}

/* False for stack samples and the categories of Python frames and kernels, whose names may match without marking steps. */
static bool may_mark(const struct tk_trace *t, tk_id cls) {
  const char *cat = tk_string(t, t->classes[cls].cat, NULL);
  if (t->classes[cls].unit) return false;
  return strcmp(cat, "python_function") != 0 && strcmp(cat, "kernel") != 0;
}

/* Marks the classes that match a row. */
static bool mark_row(struct step_names *n, const struct tk_trace *t, const struct row *row) {
  bool found = false;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    n->marks[i] = may_mark(t, i) && is_row(row, tk_string(t, t->classes[i].name, NULL));
    found = found || n->marks[i];
  }
  n->ordinal = row->ordinal;
  return found;
}

/* True if at least two events belong to marked classes. */
static bool repeats(const struct step_names *n, const struct tk_trace *t) {
  uint32_t found = 0;
  for (tk_id i = 1; found < 2 && i <= t->n_events; i++) found += n->marks[t->events[i].cls];
  return found == 2;
}

/* Marks the classes named by WORDS. A word alone must occur twice: profilers that sample the stack show many calls of a function
 * train_step as a single span. */
static bool mark_words(struct step_names *n, const struct tk_trace *t) {
  bool alone = false, numbered = false;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const enum word word = may_mark(t, i) ? word_of(tk_string(t, t->classes[i].name, NULL)) : WORD_NONE;
    n->marks[i] = word != WORD_NONE;
    alone = alone || word == WORD_ALONE;
    numbered = numbered || word == WORD_NUMBERED;
  }
  n->ordinal = false;
  return numbered || (alone && repeats(n, t));
}

/* ---- programs ---- */

/* A program consists of all classes with one name, because each plane of an XPlane file has separate classes. */
struct program {
  tk_time total;
  tk_id track; /* last track on which it ran */
  tk_id first; /* valid for every class: the first class with the same name, whose entry is that of the program */
  bool repeats;
};

static bool find_programs(const struct tk_trace *t, struct program *programs, struct mem *mem) {
  struct map first;
  bool ok = true;
  map_init(&first, mem);
  for (tk_id i = 1; ok && i <= t->n_classes; i++) {
    const uint32_t *class = map_put(&first, t->classes[i].name, i);
    ok = class != NULL;
    programs[i].first = ok ? *class : i;
  }
  map_free(&first);
  return ok;
}

/* Adds up the executions of each program. The lines of XLA that show programs are called "XLA Modules", and for GPUs "XLA
 * Modules - from #2". */
static void add_programs(const struct tk_trace *t, struct program *programs) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_THREAD || !text_begins(tk_string(t, k->name, NULL), "XLA Modules")) continue;
    for (tk_id at = k->first; at < k->first + k->count; at++) {
      const struct tk_event *e = &t->events[at];
      struct program *p = &programs[programs[e->cls].first];
      if (e->kind != TK_EVENT_SPAN || e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_UNFINISHED)) continue;
      p->total += e->dur;
      p->repeats = p->repeats || p->track == i;
      p->track = i;
    }
  }
}

/* Marks the program with the longest total time among programs that ran repeatedly on a device. Returns false when memory runs
 * out. */
static bool mark_program(struct step_names *n, const struct tk_trace *t, struct mem *mem, bool *found) {
  struct program *programs = mem_zeros(mem, (uint64_t)t->n_classes + 1, sizeof *programs);
  tk_id longest = 0;
  if (!programs) return false;
  const bool ok = find_programs(t, programs, mem);
  if (ok) add_programs(t, programs);
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (programs[i].repeats && (!longest || programs[i].total > programs[longest].total)) longest = i;
  for (tk_id i = 1; longest && i <= t->n_classes; i++) n->marks[i] = programs[i].first == longest;
  mem_free(mem, programs);
  *found = longest != 0;
  n->ordinal = true;
  return ok;
}

bool step_names_find(struct step_names *n, const struct tk_trace *t, struct mem *mem) {
  *n = (struct step_names){.marks = NULL};
  if (!t->store->step_name && has_own_marks(t)) return true;
  n->marks = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *n->marks);
  if (!n->marks) return false;
  n->marks[0] = false;
  if (t->store->step_name) return mark_by_pattern(n, t, mem);
  for (unsigned i = 0; i < N_ROWS; i++)
    if (mark_row(n, t, &ROWS[i])) return true;
  if (mark_words(n, t)) return true;
  bool found = false;
  const bool ok = mark_program(n, t, mem, &found);
  if (!found) step_names_free(n, mem);
  return ok;
}

void step_names_free(struct step_names *n, struct mem *mem) {
  mem_free(mem, n->marks);
  n->marks = NULL;
}

bool step_names_number(const char *name, int64_t *number) {
  const char *end = end_of(name), *p;
  const uint8_t *stop;
  while (end > name && !(end[-1] >= '0' && end[-1] <= '9')) end--;
  for (p = end; p > name && p[-1] >= '0' && p[-1] <= '9';) p--;
  if (p == end) return false;
  while (*p == '0' && p + 1 < end) p++;
  const struct num v = num_scan((const uint8_t *)p, &stop);
  *number = v.mant;
  return v.kind == NUM_INT || (v.kind == NUM_DEC && v.exp == 0);
}
