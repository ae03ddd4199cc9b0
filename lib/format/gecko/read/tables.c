/* tables.c - tables of Firefox profiles: strings, functions, frames and stacks.
 *
 * A stack is a frame and an earlier stack, its prefix. Versions differ in where tables are and in some columns; the form of the data
 * decides, not the version:
 *
 *     up to 55   all tables in each thread          56, 60   strings, then all tables, in `shared`
 *     up to 40   libraries in each thread           41       libraries in the profile
 *     up to 57   funcTable.fileName                 58       funcTable.source, an index of `sources`
 *     up to 65   stackTable.prefix                  66       stackTable.prefixOffset: how much earlier the prefix is; 0 = none
 *     up to 69   resourceTable.lib                  70       frameTable.lib */
#include "tables.h"

#include "graph/stack.h"
#include "locations.h"
#include "values.h"

/* ---- categories, libraries, resources ---- */

void gecko_read_categories(struct gecko *g, struct json_walk *w, const struct json_value *list) {
  struct json_walk in = json_walk_into(w, list);
  struct json_value item;
  if (list->p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) {
      struct json_value name;
      const struct json_place places[] = {{"name", &name}, {NULL, NULL}};
      json_walk_object(&in, &item, places);
      gecko_add_id(g, &g->categories, gecko_text(g, &in, &name));
    }
  json_walk_free(&in);
}

static void read_lib_names(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *list) {
  struct json_walk in = json_walk_into(w, list);
  struct json_value item;
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) {
      struct json_value name, debug;
      const struct json_place places[] = {{"name", &name}, {"debugName", &debug}, {NULL, NULL}};
      json_walk_object(&in, &item, places);
      gecko_add_id(g, &x->libs, gecko_text(g, &in, name.p ? &name : &debug));
    }
  json_walk_free(&in);
}

/* Reads the names of resources: for a library, the name of its file; for others, a host or an address. */
static void read_resources(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"name", "lib", NULL};
  struct gecko_rows r;
  uint32_t lib;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      const bool has_lib = gecko_index(g, &r.cells[1], x->libs.n, &lib);
      gecko_add_id(g, &x->resources, has_lib && x->libs.v[lib] ? x->libs.v[lib] : gecko_string_of(g, x, w, &r.cells[0]));
    }
  gecko_rows_end(&r);
}

/* ---- strings and sources ---- */

static void read_strings(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *list) {
  struct json_walk in = json_walk_into(w, list);
  struct gecko_strings *s = &x->strings;
  struct json_value v;
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) {
      if (!mem_grow(g->mem, (void **)&s->v, &s->cap, (uint64_t)s->n + 1, sizeof *s->v)) break;
      s->v[s->n++] = (struct gecko_string){.text = v.str, .id = v.type == JSON_STRING ? 0 : KEY_EMPTY};
    }
  json_walk_free(&in);
}

static void read_sources(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"filename", NULL};
  struct gecko_rows r;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) gecko_add_id(g, &x->sources, gecko_string_of(g, x, w, &r.cells[0]));
  gecko_rows_end(&r);
}

static void read_places(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"line", "column", "source", NULL};
  struct gecko_places *p = &x->places;
  struct gecko_rows r;
  uint32_t source;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      struct gecko_place place = {.line = gecko_position(&r.cells[0]), .column = gecko_position(&r.cells[1])};
      if (gecko_index(g, &r.cells[2], x->sources.n, &source)) place.file = x->sources.v[source];
      if (mem_grow(g->mem, (void **)&p->v, &p->cap, (uint64_t)p->n + 1, sizeof *p->v)) p->v[p->n++] = place;
    }
  gecko_rows_end(&r);
}

/* Moves a frame to its place in the original source, if a source map gives one. */
static void use_place(struct gecko *g, const struct gecko_tables *x, const struct json_value *index, struct tk_frame *f) {
  uint32_t i;
  if (!gecko_index(g, index, x->places.n, &i)) return;
  f->file = x->places.v[i].file;
  f->line = x->places.v[i].line;
  f->column = x->places.v[i].column;
}

/* ---- functions and frames ---- */

static void read_funcs(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"name", "resource", "fileName", "source", "lineNumber", "columnNumber", "originalLocation",
                                      NULL};
  struct gecko_funcs *s = &x->funcs;
  struct gecko_rows r;
  uint32_t i;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      struct tk_frame f = {.name = gecko_string_of(g, x, w, &r.cells[0]), .file = gecko_string_of(g, x, w, &r.cells[2])};
      if (gecko_index(g, &r.cells[1], x->resources.n, &i)) f.module = x->resources.v[i];
      if (!f.file && gecko_index(g, &r.cells[3], x->sources.n, &i)) f.file = x->sources.v[i];
      f.line = gecko_position(&r.cells[4]);
      f.column = gecko_position(&r.cells[5]);
      use_place(g, x, &r.cells[6], &f);
      if (mem_grow(g->mem, (void **)&s->v, &s->cap, (uint64_t)s->n + 1, sizeof *s->v)) s->v[s->n++] = f;
    }
  gecko_rows_end(&r);
}

static void add_node(struct gecko *g, struct gecko_nodes *nodes, struct gecko_node node) {
  if (mem_grow(g->mem, (void **)&nodes->v, &nodes->cap, (uint64_t)nodes->n + 1, sizeof *nodes->v)) nodes->v[nodes->n++] = node;
}

static tk_id category_of(struct gecko *g, const struct json_value *v) {
  uint32_t i;
  return g->categories.n && gecko_index(g, v, g->categories.n, &i) ? g->categories.v[i] : 0;
}

/* Reads frames. The line of a frame is where it was executing; its function has the line where the function begins. Raw frames
 * have a location instead of a function. */
static void read_frames(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"func", "line", "column", "lib", "category", "originalLocation", "location", NULL};
  struct gecko_rows r;
  uint32_t i;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      struct tk_frame f = {.name = 0};
      if (r.cells[6].p) f = gecko_location(g, gecko_string_of(g, x, w, &r.cells[6]));
      else if (gecko_index(g, &r.cells[0], x->funcs.n, &i)) f = x->funcs.v[i];
      const uint32_t line = gecko_position(&r.cells[1]);
      if (line) f.line = line, f.column = gecko_position(&r.cells[2]);
      if (gecko_index(g, &r.cells[3], x->libs.n, &i) && x->libs.v[i]) f.module = x->libs.v[i];
      use_place(g, x, &r.cells[5], &f);
      add_node(g, &x->frames, (struct gecko_node){stack_frame(g->t, &f), category_of(g, &r.cells[4])});
    }
  gecko_rows_end(&r);
}

/* ---- stacks ---- */

/* Finds the parent of a new stack. Returns false if it has no parent or an invalid one: only earlier stacks are valid, so there
 * are no loops. */
static bool prefix_of(struct gecko *g, const struct gecko_nodes *stacks, const struct gecko_rows *r, uint32_t *at) {
  const struct json_value *prefix = &r->cells[1], *offset = &r->cells[2];
  int64_t number;
  if (prefix->p) return gecko_index(g, prefix, stacks->n, at);
  if (!offset->p || !json_walk_whole(offset, &number) || number == 0) return false;
  if (number < 0 || number > stacks->n) {
    gecko_repair(g, offset->p, "index beyond its table: ignored");
    return false;
  }
  *at = stacks->n - (uint32_t)number;
  return true;
}

/* Reads stacks. A stack without a category inherits the category of its prefix. */
static void read_stacks(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"frame", "prefix", "prefixOffset", "category", NULL};
  struct gecko_rows r;
  uint32_t i;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      const struct gecko_node none = {0, 0};
      const struct gecko_node outer = prefix_of(g, &x->stacks, &r, &i) ? x->stacks.v[i] : none;
      const struct gecko_node frame = gecko_index(g, &r.cells[0], x->frames.n, &i) ? x->frames.v[i] : none;
      struct gecko_node stack = {frame.id ? stack_push(g->t, outer.id, frame.id) : outer.id, category_of(g, &r.cells[3])};
      if (!stack.cat) stack.cat = frame.cat ? frame.cat : outer.cat;
      add_node(g, &x->stacks, stack);
    }
  gecko_rows_end(&r);
}

/* ---- all of them ---- */

/* Empties a table of x before it is read. A table that x shares with `base` is not freed. */
#define RENEW(x, base, member) \
  ((x)->member.v != (base)->member.v ? mem_free(g->mem, (x)->member.v) : (void)0, \
   (x)->member.v = NULL, (x)->member.n = (x)->member.cap = 0)

void gecko_read_tables(struct gecko *g, struct gecko_tables *x, const struct gecko_tables *base, struct json_walk *w,
                       const struct json_value *object) {
  struct json_value strings, table, libs, resources, sources, places, funcs, frames, stacks;
  const struct json_place members[] = {{"stringArray", &strings}, {"stringTable", &table}, {"libs", &libs},
                                       {"resourceTable", &resources}, {"sources", &sources}, {"sourceLocationTable", &places},
                                       {"funcTable", &funcs}, {"frameTable", &frames}, {"stackTable", &stacks}, {NULL, NULL}};
  if (!object->p || object->type != JSON_OBJECT) return;
  json_walk_object(w, object, members);
  if (strings.p || table.p) RENEW(x, base, strings), read_strings(g, x, w, strings.p ? &strings : &table);
  if (libs.p) RENEW(x, base, libs), read_lib_names(g, x, w, &libs);
  if (resources.p) RENEW(x, base, resources), read_resources(g, x, w, &resources);
  if (sources.p) RENEW(x, base, sources), read_sources(g, x, w, &sources);
  if (places.p) RENEW(x, base, places), read_places(g, x, w, &places);
  if (funcs.p) RENEW(x, base, funcs), read_funcs(g, x, w, &funcs);
  if (frames.p) RENEW(x, base, frames), read_frames(g, x, w, &frames);
  if (stacks.p) RENEW(x, base, stacks), read_stacks(g, x, w, &stacks);
}

void gecko_free_tables(struct gecko *g, struct gecko_tables *x, const struct gecko_tables *base) {
  RENEW(x, base, strings);
  RENEW(x, base, libs);
  RENEW(x, base, resources);
  RENEW(x, base, sources);
  RENEW(x, base, places);
  RENEW(x, base, funcs);
  RENEW(x, base, frames);
  RENEW(x, base, stacks);
}
