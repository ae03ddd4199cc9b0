/* snapshot.c - recognises the dicts of a snapshot by their keys, and stores them in arrays. */
#include "snapshot.h"

#include <string.h>

/* ---- members ---- */

struct members {
  struct snapshot *s;
  const struct pickle_value *pairs;
  size_t n;
};

static const struct pickle_value *member(const struct members *m, enum snapshot_word key) {
  const struct pickle_value *found = NULL;
  for (size_t i = 0; i + 1 < m->n; i += 2)
    if (m->pairs[i].type == PICKLE_TEXT && m->pairs[i].i == key) found = &m->pairs[i + 1];
  return found;
}

static bool has(const struct members *m, enum snapshot_word key) { return member(m, key) != NULL; }

static bool has_int(const struct members *m, enum snapshot_word key) {
  const struct pickle_value *v = member(m, key);
  return v && v->type == PICKLE_INT;
}

static int64_t int_of(const struct members *m, enum snapshot_word key) { return has_int(m, key) ? member(m, key)->i : 0; }

static uint32_t text_of(const struct members *m, enum snapshot_word key) {
  const struct pickle_value *v = member(m, key);
  return v && v->type == PICKLE_TEXT && v->i != WORD_NOT_AVAILABLE && v->i != WORD_NOTHING ? (uint32_t)v->i : 0;
}

static uint32_t list_of(const struct members *m, enum snapshot_word key) {
  const struct pickle_value *v = member(m, key);
  return v && v->type == PICKLE_LIST ? (uint32_t)v->i + 1 : 0;
}

/* ---- objects ---- */

static void *add_object(struct snapshot *s, enum snapshot_kind kind, size_t size, struct pickle_value *out) {
  struct snapshot_array *a = &s->of[kind];
  if (!mem_grow(&s->t->store->mem, &a->p, &a->cap, (uint64_t)a->n + 1, size)) return NULL;
  *out = (struct pickle_value){.i = a->n, .n = 1, .type = PICKLE_OBJECT, .kind = (uint8_t)kind};
  return (char *)a->p + size * a->n++;
}

static bool take_event(const struct members *m, struct pickle_value *out) {
  struct snapshot_event *e = add_object(m->s, SNAPSHOT_EVENT, sizeof *e, out);
  if (!e) return false;
  *e = (struct snapshot_event){.time_us = int_of(m, WORD_TIME_US), .addr = int_of(m, WORD_ADDR), .size = int_of(m, WORD_SIZE),
                               .stream = int_of(m, WORD_STREAM), .action = text_of(m, WORD_ACTION),
                               .stack = list_of(m, WORD_FRAMES), .context = text_of(m, WORD_COMPILE_CONTEXT),
                               .metadata = text_of(m, WORD_USER_METADATA), .has_time = has_int(m, WORD_TIME_US)};
  if (e->action == WORD_OOM && has_int(m, WORD_DEVICE_FREE)) e->addr = int_of(m, WORD_DEVICE_FREE);
  return true;
}

static bool take_frame(const struct members *m, struct pickle_value *out) {
  struct snapshot_frame *f = add_object(m->s, SNAPSHOT_FRAME, sizeof *f, out);
  if (f) *f = (struct snapshot_frame){.name = text_of(m, WORD_NAME), .file = text_of(m, WORD_FILENAME), .line = int_of(m, WORD_LINE)};
  return f != NULL;
}

/* Reads a block. The size of an allocation is the requested size, which events also record; older versions record only the rounded
 * size. The requested size of a free block is 0, so its size is the rounded one. */
static bool take_block(const struct members *m, struct pickle_value *out) {
  struct snapshot_block *b = add_object(m->s, SNAPSHOT_BLOCK, sizeof *b, out);
  const bool is_requested = text_of(m, WORD_STATE) != WORD_INACTIVE && has_int(m, WORD_REQUESTED_SIZE);
  if (!b) return false;
  *b = (struct snapshot_block){.addr = int_of(m, has(m, WORD_ADDRESS) ? WORD_ADDRESS : WORD_ADDR),
                               .size = int_of(m, is_requested ? WORD_REQUESTED_SIZE : WORD_SIZE),
                               .state = text_of(m, WORD_STATE), .stack = list_of(m, WORD_FRAMES)};
  return true;
}

static bool take_segment(const struct members *m, struct pickle_value *out) {
  struct snapshot_segment *g = add_object(m->s, SNAPSHOT_SEGMENT, sizeof *g, out);
  if (!g) return false;
  *g = (struct snapshot_segment){.device = int_of(m, WORD_DEVICE), .size = int_of(m, WORD_TOTAL_SIZE),
                                 .stream = int_of(m, WORD_STREAM), .blocks = list_of(m, WORD_BLOCKS)};
  return true;
}

static bool take_annotation(const struct members *m, struct pickle_value *out) {
  struct snapshot_annotation *a = add_object(m->s, SNAPSHOT_ANNOTATION, sizeof *a, out);
  if (!a) return false;
  *a = (struct snapshot_annotation){.time_us = int_of(m, WORD_TIME_US), .device = int_of(m, WORD_DEVICE),
                                    .stage = text_of(m, WORD_STAGE), .name = text_of(m, WORD_NAME)};
  return true;
}

/* Recognises the kind of a dict by keys that no other kind has. A dict with many keys is a table, such as the settings. */
static bool take(void *arg, const struct pickle_value *pairs, size_t n, struct pickle_value *out) {
  enum { KEYS_MOST = 64 };
  const struct members m = {arg, pairs, n};
  if (n > 2 * KEYS_MOST) return false;
  if (has(&m, WORD_ACTION) && has(&m, WORD_SIZE)) return take_event(&m, out);
  if (has(&m, WORD_FILENAME) && has(&m, WORD_LINE)) return take_frame(&m, out);
  if (has(&m, WORD_STATE) && has(&m, WORD_SIZE)) return take_block(&m, out);
  if (has(&m, WORD_TOTAL_SIZE) && has(&m, WORD_BLOCKS)) return take_segment(&m, out);
  if (has(&m, WORD_STAGE) && has(&m, WORD_TIME_US)) return take_annotation(&m, out);
  return false;
}

/* ---- the snapshot ---- */

void snapshot_init(struct snapshot *s, struct tk_trace *t, struct in *in, struct tk_err *err) {
  static const char *const WORDS[] = {
#define X(name, text) text,
      SNAPSHOT_WORDS(X)
#undef X
  };
  *s = (struct snapshot){.t = t, .err = err, .pickle = {.in = in, .mem = &t->store->mem, .err = err, .take = take}};
  s->pickle.arg = s;
  pickle_init(&s->pickle);
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) intern(&s->pickle.texts, WORDS[i], strlen(WORDS[i]));
}

void snapshot_free(struct snapshot *s) {
  for (int k = 0; k < SNAPSHOT_KINDS; k++) mem_free(&s->t->store->mem, s->of[k].p);
  pickle_free(&s->pickle);
}

void snapshot_each(const struct snapshot *s, const struct pickle_value *list, enum snapshot_kind kind,
                   void (*each)(void *arg, int64_t object), void *arg) {
  uint32_t n;
  const struct pickle_value *v = pickle_items(&s->pickle, list, &n);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; v[i].type == PICKLE_OBJECT && v[i].kind == kind && k < v[i].n; k++) each(arg, v[i].i + k);
}

struct pickle_value snapshot_list(uint32_t number) {
  return number ? (struct pickle_value){.i = number - 1, .type = PICKLE_LIST} : (struct pickle_value){.type = PICKLE_NONE};
}

tk_id snapshot_string(const struct snapshot *s, uint32_t text) {
  bool repaired = false;
  const struct intern_str *from = &s->pickle.texts.strs[text];
  const tk_id id = text ? intern_text(&s->t->store->strings, from->bytes, from->len, false, &repaired) : 0;
  if (repaired) trace_note(s->t, TK_NOTE_REPAIR, UINT64_MAX, "invalid UTF-8: replaced by U+FFFD");
  return id;
}
