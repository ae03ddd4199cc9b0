/* print_fragments.c - formats text that occurs in many events (print.h). */
#include "print.h"

#include <string.h>

#include "format/json_args.h"

static struct fragment class_fragment(struct printer *p, const struct tk_class *c) {
  size_t at = p->text.len;
  if (c->cat) buf_text(&p->text, ",\"cat\":"), json_quote_id(&p->text, p->t, c->cat);
  if (c->name) buf_text(&p->text, ",\"name\":"), json_quote_id(&p->text, p->t, c->name);
  return print_fragment_from(p, at);
}

void print_add_ident(struct printer *p, const char *key, struct tk_ident i) {
  char text[32];
  if (i.kind == TK_IDENT_NONE) return;
  buf_text(&p->text, key);
  if (i.kind == TK_IDENT_STR) {
    json_quote_id(&p->text, p->t, i.str);
    return;
  }
  if (i.kind == TK_IDENT_QUOTED) buf_append(&p->text, "\"", 1);
  buf_append(&p->text, text, num_put_i64(text, i.num));
  if (i.kind == TK_IDENT_QUOTED) buf_append(&p->text, "\"", 1);
}

static struct fragment track_fragment(struct printer *p, const struct tk_track *k) {
  size_t at = p->text.len;
  print_add_ident(p, ",\"pid\":", k->pid);
  if (k->kind != TK_TRACK_PROCESS) print_add_ident(p, ",\"tid\":", k->tid);
  return print_fragment_from(p, at);
}

static const struct {
  const char *key;
  enum place place;
} MARKS[] = {{"json.args", MARK_ARGS},
             {"json.ph", MARK_PH},
             {"json.ts", MARK_TS},
             {"json.tid", MARK_TID},
             {"json.end.json.name", MARK_END_NAME},
             {"json.end.json.cat", MARK_END_CAT},
             {"json.end.json.ts", MARK_END_TS},
             {"json.end.json.tid", MARK_END_TID},
             {"json.end.json.pid", MARK_END_PID},
             {"json.end.json.args", MARK_END_ARGS},
             {"json.respelled", MARK_RESPELLED},
             {"json.end.json.respelled", MARK_END_RESPELLED}};

/* Finds the place where an arg with this key is printed. *skip becomes the length of the key's prefix. */
static enum place place_of_key(const char *key, size_t n, size_t *skip) {
  *skip = 0;
  if (n < 5 || memcmp(key, "json.", 5) != 0) return IN_ARGS;
  for (size_t i = 0; i < sizeof MARKS / sizeof MARKS[0]; i++)
    if (strlen(MARKS[i].key) == n && memcmp(MARKS[i].key, key, n) == 0) return MARKS[i].place;
  if (n >= 10 && memcmp(key, "json.args.", 10) == 0) {
    *skip = 10;
    return IN_ARGS;
  }
  if (n < 9 || memcmp(key, "json.end.", 9) != 0) {
    *skip = 5;
    return AS_FIELD;
  }
  if (n >= 19 && memcmp(key + 9, "json.args.", 10) == 0) {
    *skip = 19;
    return IN_END_ARGS;
  }
  if (n >= 14 && memcmp(key + 9, "json.", 5) == 0) {
    *skip = 14;
    return AS_END_FIELD;
  }
  *skip = 9;
  return IN_END_ARGS;
}

void print_make_shape(struct printer *p, const struct tk_arg_shape *s, struct printed_shape *out) {
  out->ready = out->simple = true;
  for (uint32_t i = 0; i < s->n; i++) {
    size_t n, skip, at = p->text.len;
    const char *key = tk_string(p->t, s->fields[i].key, &n);
    struct printed_field *f = &p->fields[out->first + i];
    f->place = (uint8_t)place_of_key(key, n, &skip);
    buf_append(&p->text, ",", 1);
    json_quote(&p->text, key + skip, n - skip);
    buf_append(&p->text, ":", 1);
    f->key = print_fragment_from(p, at);
    if (f->place != IN_ARGS) out->simple = false;
  }
}

/* Chooses the flow points to print as fields, one per event; its other points become separate events. */
static void find_points(struct printer *p, struct mem *mem) {
  const struct tk_trace *t = p->t;
  struct tk_arg arg;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (f->role < TK_FLOW_OUT || !f->bound || tk_args_find(t, t->events[f->at].args, "json.bind_id", &arg)) continue;
    if (!p->points) p->points = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *p->points);
    if (!p->points) return;
    if (!p->points[f->at]) p->points[f->at] = i;
  }
}

/* Gives the fields of each shape their places in p->fields. Returns the number of places. */
static uint64_t place_fields(struct printer *p) {
  const struct tk_store *s = p->t->store;
  uint64_t n = 0;
  for (uint32_t i = 1; i <= s->n_shapes; n += s->shapes[i++]->n) p->shapes[i] = (struct printed_shape){.first = (uint32_t)n};
  return n;
}

static void *array(struct mem *m, uint64_t n, size_t elem) { return mem_array(m, (uint64_t)n + 1, elem); }

bool print_start(struct printer *p, struct out *out, const struct tk_trace *t, int64_t zero_ns, struct mem *mem) {
  const struct tk_store *s = t->store;
  *p = (struct printer){.out = out, .t = t, .base_ns = t->origin_ns - zero_ns, .text = {.mem = mem}};
  map_init(&p->keys.map, mem);
  p->classes = array(mem, t->n_classes, sizeof *p->classes);
  p->tracks = array(mem, t->n_tracks, sizeof *p->tracks);
  p->clean = array(mem, s->strings.n, 1);
  p->shapes = array(mem, s->n_shapes, sizeof *p->shapes);
  if (mem->failed || !buf_reserve(&p->text, 1)) return false; /* fragments need an address even if the text is empty */
  const uint64_t n_fields = place_fields(p);
  p->fields = n_fields <= UINT32_MAX ? array(mem, n_fields, sizeof *p->fields) : NULL;
  if (!p->fields) return false;
  for (tk_id i = 1; i <= t->n_classes; i++) p->classes[i] = class_fragment(p, &t->classes[i]);
  for (tk_id i = 1; i <= t->n_tracks; i++) p->tracks[i] = track_fragment(p, &t->tracks[i]);
  for (uint32_t i = 1; i <= s->strings.n; i++) p->clean[i] = json_clean(s->strings.strs[i].bytes, s->strings.strs[i].len);
  find_points(p, mem);
  return !mem->failed;
}

void print_finish(struct printer *p) {
  const struct tk_trace *t = p->t;
  struct mem *m = p->text.mem;
  if (!t) return;
  mem_free(m, p->classes);
  mem_free(m, p->tracks);
  mem_free(m, p->clean);
  mem_free(m, p->shapes);
  mem_free(m, p->fields);
  mem_free(m, p->points);
  buf_free(&p->text);
  map_free(&p->keys.map);
  p->t = NULL;
}
