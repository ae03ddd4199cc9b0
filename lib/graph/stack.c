/* stack.c - see stack.h. Frames, stacks and classes are found by hash; collisions continue at hash + 1. */
#include "stack.h"

#include <string.h>

#include "args.h"
#include "base/hash.h"

/* ---- tables ---- */

static bool begin_tables(struct tk_trace *t) {
  struct tk_store *s = t->store;
  if (t->frames && t->stacks) return true;
  if (!mem_grow(&s->mem, (void **)&t->frames, &s->cap_frames, 1, sizeof *t->frames) ||
      !mem_grow(&s->mem, (void **)&t->stacks, &s->cap_stacks, 1, sizeof *t->stacks))
    return false;
  t->frames[0] = (struct tk_frame){0};
  t->stacks[0] = (struct tk_stack){0};
  return true;
}

static bool is_same_frame(const struct tk_frame *a, const struct tk_frame *b) {
  return a->name == b->name && a->module == b->module && a->file == b->file && a->line == b->line && a->column == b->column;
}

static uint64_t hash_of_frame(const struct tk_frame *f, const struct stack_site *site) {
  const uint64_t h = hash_pair((uint64_t)f->name << 32 | f->module, (uint64_t)f->file << 32 | f->line) + f->column;
  return site->mapping ? hash_pair(h, hash_pair(site->mapping, site->address)) : h;
}

struct stack_site stack_site_of(const struct tk_trace *t, tk_id frame) {
  return frame < t->store->n_sites ? t->store->sites[frame] : (struct stack_site){.mapping = 0};
}

static bool is_same_site(const struct tk_trace *t, tk_id frame, const struct stack_site *site) {
  const struct stack_site known = stack_site_of(t, frame);
  return known.mapping == site->mapping && known.address == site->address;
}

/* Stores the site of the frame added last. */
static bool add_site(struct tk_trace *t, const struct stack_site *site) {
  struct tk_store *s = t->store;
  if (!site->mapping) return true;
  if (!mem_grow(&s->mem, (void **)&s->sites, &s->cap_sites, (uint64_t)t->n_frames + 1, sizeof *s->sites)) return false;
  while (s->n_sites < t->n_frames) s->sites[s->n_sites++] = (struct stack_site){.mapping = 0};
  s->sites[s->n_sites++] = *site;
  return true;
}

tk_id stack_frame_at(struct tk_trace *t, const struct tk_frame *frame, const struct stack_site *site) {
  struct tk_store *s = t->store;
  uint64_t h = hash_of_frame(frame, site);
  uint32_t *slot;
  if (!begin_tables(t)) return 0;
  for (; (slot = map_put(&s->frame_index, h, 0)) != NULL && *slot; h++)
    if (is_same_frame(&t->frames[*slot], frame) && is_same_site(t, *slot, site)) return *slot;
  if (!slot || !mem_grow(&s->mem, (void **)&t->frames, &s->cap_frames, (uint64_t)t->n_frames + 2, sizeof *t->frames)) return 0;
  t->frames[++t->n_frames] = *frame;
  return add_site(t, site) ? *slot = t->n_frames : 0;
}

tk_id stack_frame(struct tk_trace *t, const struct tk_frame *frame) {
  return stack_frame_at(t, frame, &(struct stack_site){.mapping = 0});
}

uint32_t stack_add_mapping(struct tk_trace *t, const struct stack_mapping *m) {
  struct tk_store *s = t->store;
  if (!mem_grow(&s->mem, (void **)&s->mappings, &s->cap_mappings, (uint64_t)s->n_mappings + 1, sizeof *s->mappings)) return 0;
  s->mappings[s->n_mappings] = *m;
  return ++s->n_mappings;
}

tk_id stack_push(struct tk_trace *t, tk_id parent, tk_id frame) {
  struct tk_store *s = t->store;
  if (!frame || !begin_tables(t)) return 0;
  uint32_t *slot = map_put(&s->stack_index, (uint64_t)parent << 32 | frame, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&s->mem, (void **)&t->stacks, &s->cap_stacks, (uint64_t)t->n_stacks + 2, sizeof *t->stacks)) return 0;
  t->stacks[++t->n_stacks] = (struct tk_stack){parent, frame, t->stacks[parent].depth + 1};
  return *slot = t->n_stacks;
}

tk_id stack_class(struct tk_trace *t, tk_id stack, tk_id cat, tk_id unit) {
  struct tk_store *s = t->store;
  uint64_t h = hash_pair((uint64_t)stack << 32 | cat, unit);
  uint32_t *slot;
  if (!begin_tables(t)) return 0;
  for (; (slot = map_put(&s->sample_index, h, 0)) != NULL && *slot; h++) {
    const struct tk_class *c = &t->classes[*slot];
    if (c->stack == stack && c->cat == cat && c->unit == unit) return *slot;
  }
  struct tk_class *c = slot ? trace_add_class(t) : NULL;
  if (!c || c == &t->classes[0]) return 0;
  *c = (struct tk_class){.name = t->frames[t->stacks[stack].frame].name, .cat = cat, .stack = stack, .unit = unit};
  s->n_sample_classes++;
  return *slot = t->n_classes;
}

/* ---- weights ---- */

uint32_t stack_weight_args(struct tk_trace *t, int64_t number, int32_t exp, bool more) {
  if (number == 1 && exp == 0) return more ? args_end(t) : 0;
  if (!more) args_begin(t);
  if (exp == 0) args_int(t, KEY_WEIGHT, number);
  else args_decimal(t, KEY_WEIGHT, number, exp);
  return args_end(t);
}

void stack_add_with(struct tk_trace *t, const struct tk_sample *s, uint32_t args) {
  const struct tk_event e = {.ts = s->ts, .track = s->track, .cls = stack_class(t, s->stack, s->cat, s->unit), .args = args,
                             .kind = TK_EVENT_SAMPLE};
  *trace_add_event(t) = e;
}

void stack_add(struct tk_trace *t, const struct tk_sample *s) {
  struct stack_weight *w = &t->store->weight;
  if (!w->args || w->number != s->weight || w->exp != s->exp) {
    const uint32_t args = stack_weight_args(t, s->weight, s->exp, false);
    *w = (struct stack_weight){s->weight, s->exp, args};
  }
  stack_add_with(t, s, w->args);
}

int64_t tk_sample_weight(const struct tk_trace *t, const struct tk_event *sample, int32_t *exp) {
  struct tk_arg arg;
  *exp = 0;
  if (!args_of_event(t, sample, KEY_WEIGHT, &arg)) return 1;
  if (arg.type == TK_ARG_DECIMAL) *exp = arg.exp;
  return arg.type == TK_ARG_INT || arg.type == TK_ARG_DECIMAL ? arg.i : 1;
}

bool stack_unit_is_time(const struct tk_trace *t, tk_id unit, int *exp) {
  static const struct {
    const char *word;
    int exp;
  } UNITS[] = {{"ns", -9}, {"us", -6}, {"ms", -3}, {"s", 0}};
  const char *text = tk_string(t, unit, NULL);
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
    if (strcmp(text, UNITS[i].word) != 0) continue;
    *exp = UNITS[i].exp;
    return true;
  }
  return false;
}

i128 stack_amount(const struct tk_trace *t, const struct tk_event *sample) {
  const i128 most = (i128)1 << 94;
  int of_unit = -9; /* units that are not times: 1 counts as one nanosecond */
  int32_t exp;
  i128 amount;
  const int64_t number = tk_sample_weight(t, sample, &exp);
  stack_unit_is_time(t, t->classes[sample->cls].unit, &of_unit);
  const bool fits = num_scale(number, exp + of_unit + 12, &amount) && amount < most && amount > -most;
  return fits ? amount : number < 0 ? -most : most;
}

uint64_t stack_sampled_records(const struct tk_trace *t) {
  uint64_t n = 0;
  tk_id i = 1;
  for (tk_id k = 1; k <= t->n_records; k++) n += t->records[k].sampled;
  while (n && i <= t->n_events && !(t->events[i].kind == TK_EVENT_SAMPLE && t->events[i].flags & TK_FLAG_IN_RECORD)) i++;
  return i <= t->n_events ? n : 0;
}

/* ---- lists ---- */

bool stack_fits_lists(const struct tk_trace *t, bool each, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  uint8_t *seen = each || !stack_has_samples(t) ? NULL : mem_zeros(mem, (uint64_t)t->n_stacks + 1, 1);
  uint64_t frames = 0, most = STACK_FRAMES_MOST;
  for (tk_id i = 1; stack_has_samples(t) && i <= t->n_events; i++) {
    if (t->events[i].kind != TK_EVENT_SAMPLE) continue;
    const tk_id stack = t->classes[t->events[i].cls].stack;
    if (!seen || !seen[stack]) frames += t->stacks[stack].depth;
    if (seen) seen[stack] = 1;
    most += STACK_DEPTH_MOST;
  }
  mem_free(mem, seen);
  return frames <= most || err_set(err, TK_ELIMIT, "stack samples need %llu frames in this format, which repeats the frames of each "
                                                   "stack; the limit is %llu; filter the samples, or write Chrome JSON, where "
                                                   "stacks share frames",
                                   (unsigned long long)frames, (unsigned long long)most);
}

bool stack_fits_spans(const struct tk_trace *t, struct tk_err *err) {
  uint64_t frames = 0, most = STACK_FRAMES_MOST;
  for (tk_id i = 1; i <= t->n_events; i++) {
    if (t->events[i].kind != TK_EVENT_SPAN) continue;
    frames += t->tracks[t->events[i].track].kind == TK_TRACK_THREAD ? t->events[i].depth + 1u : 1;
    most += STACK_DEPTH_MOST;
  }
  return frames <= most || err_set(err, TK_ELIMIT, "spans need %llu frames in this format, which repeats the names of the spans "
                                                   "around each; the limit is %llu; filter the spans, or write Chrome JSON",
                                   (unsigned long long)frames, (unsigned long long)most);
}

/* ---- copies ---- */

static bool join_mappings(struct tk_trace *to, const struct tk_trace *from, const tk_id *strings) {
  for (uint32_t i = 0; i < from->store->n_mappings; i++) {
    struct stack_mapping m = from->store->mappings[i];
    m.name = strings[m.name];
    m.build_id = strings[m.build_id];
    if (!stack_add_mapping(to, &m)) return false;
  }
  return true;
}

bool stack_join(struct tk_trace *to, const struct tk_trace *from, const tk_id *strings, tk_id *stacks) {
  tk_id *frames = mem_array(&to->store->mem, (uint64_t)from->n_frames + 1, sizeof *frames);
  const uint32_t mappings = to->store->n_mappings;
  if (!frames) return false;
  frames[0] = stacks[0] = 0;
  for (tk_id i = 1; i <= from->n_frames; i++) {
    struct tk_frame f = from->frames[i];
    f.name = strings[f.name];
    f.module = strings[f.module];
    f.file = strings[f.file];
    struct stack_site site = stack_site_of(from, i);
    if (site.mapping) site.mapping += mappings;
    frames[i] = stack_frame_at(to, &f, &site);
  }
  for (tk_id i = 1; i <= from->n_stacks; i++)
    stacks[i] = stack_push(to, stacks[from->stacks[i].parent], frames[from->stacks[i].frame]);
  mem_free(&to->store->mem, frames);
  return join_mappings(to, from, strings);
}

/* ---- check ---- */

const char *stack_fault(const struct tk_trace *t, tk_id *id) {
  const tk_id n = t->store->strings.n;
  for (*id = 1; *id <= t->n_frames; ++*id) {
    const struct tk_frame *f = &t->frames[*id];
    if (f->name > n || f->module > n || f->file > n) return "a frame has an invalid string for its name, module or file";
  }
  for (*id = 1; *id <= t->n_stacks; ++*id) {
    const struct tk_stack *s = &t->stacks[*id];
    if (s->parent >= *id || !s->frame || s->frame > t->n_frames) return "a stack has an invalid parent or frame";
    if (s->depth != (s->parent ? t->stacks[s->parent].depth + 1 : 1)) return "a stack has an invalid depth";
  }
  for (*id = 1; *id <= t->n_classes; ++*id) {
    const struct tk_class *c = &t->classes[*id];
    if (c->stack > t->n_stacks || c->unit > n) return "a class has an invalid stack or unit";
  }
  return NULL;
}
