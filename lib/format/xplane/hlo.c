/* hlo.c - the collectives of XLA's programs (hlo.h). */
#include "hlo.h"

#include <string.h>

#include "xplane.h"

struct reader {
  struct hlo_collectives *out;
  struct arena *arena;
  struct hlo_text module;
  uint64_t program;
  struct map wrapped; /* of the program: id of a computation that holds one collective -> its place + 1 */
  struct map texts;   /* hash of the text of groups -> a collective that has it, + 1: most have one of a few */
  struct buf text;    /* of groups */
  bool damaged;       /* ... which do not say all */
};

/* An instruction as far as it matters here. */
struct instruction {
  struct hlo_text name, opcode;
  struct pb_field devices, iota, mesh; /* p NULL = absent */
  struct hlo_text called;        /* packed ids */
  uint64_t callee;
  bool calls, global, channel, damaged;
};

static struct hlo_text text_of(const struct pb_field *f) { return (struct hlo_text){f->p, (size_t)f->value}; }

static bool text_is(struct hlo_text text, const char *s) { return text.n == strlen(s) && memcmp(text.p, s, text.n) == 0; }

/* ---- groups ---- */

/* Numbers, packed or not, each with a comma before it but the first behind `open`. */
static void put_numbers(struct reader *r, size_t open, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  uint64_t v = f->value;
  char digits[24];
  for (bool one = f->wire == PB_VARINT; one || (c.p < c.end && pb_varint(&c, &v)); one = false) {
    if (r->text.len > open) buf_append(&r->text, ",", 1);
    buf_append(&r->text, digits, num_put_i64(digits, (int64_t)v));
  }
  if (c.fault) r->damaged = true;
}

/* "2,4" of all the fields of this number in a message; false if there are none. */
static bool put_repeated(struct reader *r, struct pb c, uint32_t number) {
  struct pb_field f;
  size_t open = r->text.len;
  while (pb_next(&c, &f))
    if (f.number == number && (f.wire == PB_BYTES || f.wire == PB_VARINT)) put_numbers(r, open, &f);
  if (c.fault) r->damaged = true;
  return r->text.len > open;
}

static uint64_t number_of(struct pb c, uint32_t number) {
  struct pb_field f;
  uint64_t v = 0;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(number, PB_VARINT)) v = f.value;
  return v;
}

/* "{{0,1},{2,3}}", "{}" of none. */
static bool put_list(struct reader *r, struct pb c, uint32_t number) {
  struct pb_field f;
  buf_text(&r->text, "{");
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(number, PB_BYTES)) continue;
    buf_text(&r->text, r->text.len > 1 ? ",{" : "{");
    put_repeated(r, pb_inside(&f), REPLICA_GROUP_IDS);
    buf_text(&r->text, "}");
  }
  buf_text(&r->text, "}");
  return !c.fault;
}

static void put_number(struct reader *r, const char *before, uint64_t v) {
  char digits[24];
  buf_text(&r->text, before);
  buf_append(&r->text, digits, num_put_u64(digits, v));
}

/* "[4,2]<=[2,4]T(1,0)"; the order of one dimension is left out. */
static bool put_iota(struct reader *r, struct pb c) {
  put_number(r, "[", number_of(c, IOTA_GROUPS));
  put_number(r, ",", number_of(c, IOTA_GROUP_SIZE));
  buf_text(&r->text, "]<=[");
  bool dims = put_repeated(r, c, IOTA_DIMS);
  buf_text(&r->text, "]");
  size_t end = r->text.len;
  buf_text(&r->text, "T(");
  size_t order = r->text.len;
  bool ordered = put_repeated(r, c, IOTA_ORDER);
  if (ordered && !(r->text.len == order + 1 && r->text.data[order] == '0')) buf_text(&r->text, ")");
  else r->text.len = end;
  return dims;
}

/* ---- ... by the axes of a mesh ---- */

enum { AXES = 16 };
struct mesh {
  uint64_t size[AXES];
  uint64_t groups, group_size;
  uint32_t n, n_grouped;
  uint8_t grouped[AXES]; /* places of the axes along which a group lies, in its order */
  bool inside[AXES];     /* is among them */
  bool listed;           /* its devices stand in an order of their own */
};

static bool parse_mesh(struct mesh *m, struct pb c) {
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (f.number != MESH_AXES) m->listed = true;
    else if (m->n == AXES) return false;
    else m->size[m->n++] = number_of(pb_inside(&f), MESH_AXIS_SIZE);
  }
  return !c.fault;
}

/* False for a part of an axis, and for what is none. */
static bool parse_axis(struct mesh *m, struct pb c) {
  struct pb_field f;
  uint64_t at = 0;
  for (; pb_next(&c, &f); at = f.value)
    if (pb_field_key(&f) != PB_KEY(AXIS_REF_INDEX, PB_VARINT)) return false;
  if (c.fault || at >= m->n || m->inside[at]) return false;
  m->inside[at] = true;
  m->grouped[m->n_grouped++] = (uint8_t)at;
  return true;
}

static bool count_groups(struct mesh *m) {
  m->groups = m->group_size = 1;
  for (uint32_t i = 0; i < m->n; i++) {
    uint64_t *product = m->inside[i] ? &m->group_size : &m->groups;
    if (m->size[i] == 0 || m->size[i] > UINT32_MAX || (*product *= m->size[i]) > UINT32_MAX) return false;
  }
  return m->n_grouped > 0;
}

static bool parse_mesh_list(struct mesh *m, struct pb list) {
  struct pb c = list;
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(MESH_LIST_MESH, PB_BYTES) && !parse_mesh(m, pb_inside(&f))) return false;
  for (c = list; pb_next(&c, &f);)
    if (f.number != MESH_LIST_MESH && (f.number != MESH_LIST_AXES || !parse_axis(m, pb_inside(&f)))) return false;
  return !c.fault && count_groups(m) && (m->groups == 1 || !m->listed);
}

/* Axes 'a'=2, 'b'=4 with groups along 'a' are "[4,2]<=[2,4]T(1,0)". */
static bool put_mesh(struct reader *r, struct pb c) {
  struct mesh m = {.n = 0};
  const char *before = "(";
  if (!parse_mesh_list(&m, c)) return false;
  put_number(r, "[", m.groups);
  put_number(r, ",", m.group_size);
  for (uint32_t i = 0; i < m.n; i++) put_number(r, i ? "," : "]<=[", m.size[i]);
  buf_text(&r->text, "]T");
  for (uint32_t i = 0; i < m.n; i++)
    if (!m.inside[i]) put_number(r, before, i), before = ",";
  for (uint32_t i = 0; i < m.n_grouped; i++) put_number(r, before, m.grouped[i]), before = ",";
  buf_text(&r->text, ")");
  return true;
}

/* As XLA itself reads them: the newer of several forms counts.  False: in none that is known here. */
static bool put_groups(struct reader *r, const struct instruction *i, struct pb instruction) {
  struct pb c = pb_inside(&i->devices);
  struct pb_field f;
  r->text.len = 0;
  r->damaged = i->damaged;
  if (i->iota.p) return put_iota(r, pb_inside(&i->iota));
  if (i->mesh.p) return put_mesh(r, pb_inside(&i->mesh));
  if (!i->devices.p) return put_list(r, instruction, HLO_REPLICA_GROUPS);
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(DEVICE_LIST_IOTA, PB_BYTES)) return put_iota(r, pb_inside(&f));
    if (f.number != DEVICE_LIST_GROUPS) return false;
  }
  return put_list(r, pb_inside(&i->devices), DEVICE_LIST_GROUPS);
}

/* The text to stay, NULL without memory.  Thousands of collectives have the same long lists. */
static const char *keep_text(struct reader *r) {
  uint64_t hash = hash_bytes(r->text.data, r->text.len);
  uint32_t *known = map_put(&r->texts, hash, r->out->n + 1);
  const char *had = known && *known <= r->out->n ? r->out->v[*known - 1].groups : NULL;
  if (had && strlen(had) == r->text.len && memcmp(had, r->text.data, r->text.len) == 0) return had;
  char *copy = arena_bytes(r->arena, r->text.len + 1);
  if (!copy) return NULL;
  memcpy(copy, r->text.data, r->text.len);
  copy[r->text.len] = 0;
  return copy;
}

/* ---- instructions ---- */

static const char *const OPCODES[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all",
                                      "collective-broadcast"};
enum { BY_REPLICA = 3 }; /* so many of them: with a channel, the others' ids are those of partitions */

/* The place of "all-reduce" and "all-reduce-start" among them, -1 = none of ours.  A -done repeats nothing. */
static int opcode_of(struct hlo_text text) {
  static const char START[] = "-start";
  if (text.n > strlen(START) && memcmp(text.p + text.n - strlen(START), START, strlen(START)) == 0) text.n -= strlen(START);
  for (int i = 0; i < (int)(sizeof OPCODES / sizeof *OPCODES); i++)
    if (text_is(text, OPCODES[i])) return i;
  return -1;
}

static struct instruction parse_instruction(struct pb c) {
  struct instruction i = {0};
  struct pb_field f;
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
      case PB_KEY(HLO_NAME, PB_BYTES): i.name = text_of(&f); break;
      case PB_KEY(HLO_OPCODE, PB_BYTES): i.opcode = text_of(&f); break;
      case PB_KEY(HLO_CHANNEL_ID, PB_VARINT): i.channel = (int64_t)f.value > 0; break;
      case PB_KEY(HLO_CALLED, PB_VARINT): i.calls = true, i.callee = f.value; break;
      case PB_KEY(HLO_CALLED, PB_BYTES): i.called = text_of(&f); break;
      case PB_KEY(HLO_GLOBAL_IDS, PB_VARINT): i.global = f.value != 0; break;
      case PB_KEY(HLO_DEVICE_LIST, PB_BYTES): i.devices = f; break;
      case PB_KEY(HLO_IOTA_LIST, PB_BYTES): i.iota = f; break;
      case PB_KEY(HLO_MESH_LIST, PB_BYTES): i.mesh = f; break;
      default: break;
    }
  }
  struct pb called = pb_over(i.called.p, i.called.n);
  if (called.p) i.calls = pb_varint(&called, &i.callee);
  i.damaged = c.fault != NULL;
  return i;
}

static bool add(struct reader *r, const struct hlo_collective *c) {
  struct hlo_collectives *out = r->out;
  if (!mem_grow(r->arena->mem, (void **)&out->v, &out->cap, (uint64_t)out->n + 1, sizeof *out->v)) return false;
  out->v[out->n++] = *c;
  return true;
}

/* "async-start" runs another computation, which holds the collective. */
static bool add_wrapper(struct reader *r, const struct instruction *i) {
  const uint32_t *at = i->calls ? map_get(&r->wrapped, i->callee) : NULL;
  if (!at) return true;
  struct hlo_collective c = r->out->v[*at - 1];
  c.op = i->name;
  return add(r, &c);
}

static bool take_instruction(struct reader *r, struct pb c) {
  struct instruction i = parse_instruction(c);
  struct hlo_collective h = {.module = r->module, .op = i.name, .program = r->program};
  int opcode = opcode_of(i.opcode);
  if (i.name.n == 0) return true;
  if (text_is(i.opcode, "async-start")) return add_wrapper(r, &i);
  if (opcode < 0) return true;
  h.opcode = OPCODES[opcode];
  h.global = i.global || (i.channel && opcode >= BY_REPLICA);
  if (put_groups(r, &i, c) && !r->damaged && (h.groups = keep_text(r)) == NULL) return false;
  return add(r, &h);
}

static bool take_computation(struct reader *r, struct pb c) {
  uint64_t id = number_of(c, HLO_COMPUTATION_ID);
  uint32_t first = r->out->n;
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(HLO_COMPUTATION_INSTRUCTIONS, PB_BYTES) && !take_instruction(r, pb_inside(&f))) return false;
  return r->out->n != first + 1 || map_put(&r->wrapped, id, first + 1);
}

/* ---- programs ---- */

static bool take_module(struct reader *r, struct pb module) {
  struct pb c = module;
  struct pb_field f;
  bool ok = true;
  r->module = (struct hlo_text){0};
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(HLO_MODULE_NAME, PB_BYTES)) r->module = text_of(&f);
  map_init(&r->wrapped, r->arena->mem);
  for (c = module; ok && pb_next(&c, &f);)
    if (pb_field_key(&f) == PB_KEY(HLO_MODULE_COMPUTATIONS, PB_BYTES)) ok = take_computation(r, pb_inside(&f));
  map_free(&r->wrapped);
  return ok;
}

/* "jit_step(5)"; false: there is no number at the end. */
static bool number_in(struct hlo_text name, uint64_t *v) {
  size_t at = name.n;
  if (at == 0 || name.p[--at] != ')') return false;
  size_t end = at;
  while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') at--;
  if (at == end || at == 0 || name.p[at - 1] != '(') return false;
  for (*v = 0; at < end; at++) *v = *v * 10 + (uint64_t)(name.p[at] - '0');
  return true;
}

/* One event metadata: the HLO of a program, or something else. */
static bool take_metadata(struct reader *r, const struct xplane_names *names, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v = pb_over("", 0), hlo = pb_over("", 0), stat;
  struct hlo_text name = {0};
  struct pb_field f;
  struct xstat s;
  bool odd = false;
  r->program = number_of(c, MAP_KEY);
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(MAP_VALUE, PB_BYTES)) v = pb_inside(&f);
  while (pb_next(&v, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) name = text_of(&f);
    if (pb_field_key(&f) != PB_KEY(XEVENT_METADATA_STATS, PB_BYTES)) continue;
    stat = pb_inside(&f);
    if (!xplane_stat(&stat, &s, &odd)) continue;
    const struct xplane_name *known = xplane_name_of(names, s.id);
    struct hlo_text called = {known ? known->p : NULL, known ? known->n : 0};
    bool number = s.field == XSTAT_UINT64 || s.field == XSTAT_INT64;
    if (number && text_is(called, "program_id")) r->program = s.value;
    if (s.field == XSTAT_BYTES && (text_is(called, "Hlo Proto") || text_is(called, "hlo_proto")))
      hlo = pb_over(s.p, (size_t)s.value);
  }
  number_in(name, &r->program);
  while (pb_next(&hlo, &f))
    if (pb_field_key(&f) == PB_KEY(HLO_MODULE, PB_BYTES) && !take_module(r, pb_inside(&f))) return false;
  return true;
}

static bool take_plane(struct reader *r, struct pb plane) {
  struct xplane_names names;
  struct pb_field f;
  bool ok = true;
  xplane_names_of(&names, plane, r->arena->mem);
  while (ok && pb_next(&plane, &f))
    if (pb_field_key(&f) == PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) ok = take_metadata(r, &names, &f);
  xplane_names_free(&names);
  return ok;
}

bool xplane_hlo(struct hlo_collectives *h, const struct tk_trace *t, struct arena *arena) {
  struct reader r = {.out = h, .arena = arena, .text = {.mem = arena->mem}};
  const struct tk_meta *m = trace_meta(t, XPLANE_META_PLANES);
  struct xplane_plane plane;
  bool ok = true;
  *h = (struct hlo_collectives){0};
  if (!m || !m->origin || m->size % sizeof plane) return true;
  map_init(&r.texts, arena->mem);
  for (uint64_t at = 0; ok && at < m->size; at += sizeof plane) { /* raw text has no alignment */
    memcpy(&plane, trace_raw(t, m->at + at), sizeof plane);
    if (strcmp(tk_string(t, plane.name, NULL), "/host:metadata") != 0) continue;
    ok = take_plane(&r, pb_over(trace_raw(t, plane.at), (size_t)plane.size));
  }
  map_free(&r.texts);
  buf_free(&r.text);
  return ok && !arena->mem->failed;
}

void xplane_hlo_free(struct hlo_collectives *h, struct mem *mem) {
  mem_free(mem, h->v);
  *h = (struct hlo_collectives){0};
}
