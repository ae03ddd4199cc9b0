/* hlo.c - finds the collectives of XLA programs (hlo.h).
 *
 * A cursor descends to the instructions and examines the name and opcode of each; the few that are collectives are unpacked by
 * protobuf-c. proto/hlo.proto omits recursive parts (shapes, literals, shardings, backend configs), so these parts are
 * skipped. */
#include "hlo.h"

#include <string.h>

#include "format/pb_unpack.h"
#include "hlo.pb-c.h"
#include "passthrough.h"
#include "program.h"
#include "format/json_put.h"

struct hlo_reader {
  struct hlo_collectives *out;
  struct arena *arena;
  struct hlo_text module;
  uint64_t program;
  struct map wrapped; /* id of a computation with exactly one collective -> 1 + index of the collective */
  struct map texts;   /* hash of the text of groups -> 1 + index of a collective with this text; there are few different texts */
  struct buf text;    /* text of groups under construction */
};

static struct hlo_text hlo_text_of(const struct pb_field *f) { return (struct hlo_text){f->p, (size_t)f->value}; }

static bool text_is(struct hlo_text text, const char *s) { return text.n == strlen(s) && memcmp(text.p, s, text.n) == 0; }

/* ---- groups ---- */

static void put_numbers(struct buf *b, size_t n, const int64_t *v) {
  for (size_t i = 0; i < n; i++) json_put_int(b, i ? "," : "", v[i]);
}

/* Prints groups as "{{0,1},{2,3}}"; "{}" if there are none. */
static bool put_groups(struct buf *b, size_t n, Hlo__ReplicaGroup *const *groups) {
  buf_text(b, "{");
  for (size_t i = 0; i < n; i++) {
    buf_text(b, i ? ",{" : "{");
    put_numbers(b, groups[i]->n_replica_ids, groups[i]->replica_ids);
    buf_text(b, "}");
  }
  buf_text(b, "}");
  return true;
}

/* Prints groups as "[4,2]<=[2,4]T(1,0)"; the order of a single dimension is omitted. */
static bool put_iota(struct buf *b, const Hlo__IotaReplicaGroupListProto *iota) {
  size_t n = iota->n_iota_transpose_perm;
  json_put_int(b, "[", iota->num_replica_groups);
  json_put_int(b, ",", iota->num_devices_per_group);
  buf_text(b, "]<=[");
  put_numbers(b, iota->n_iota_reshape_dims, iota->iota_reshape_dims);
  buf_text(b, "]");
  if (n == 0 || (n == 1 && iota->iota_transpose_perm[0] == 0)) return iota->n_iota_reshape_dims > 0;
  for (size_t i = 0; i < n; i++) json_put_int(b, i ? "," : "T(", iota->iota_transpose_perm[i]);
  buf_text(b, ")");
  return iota->n_iota_reshape_dims > 0;
}

enum { AXES = 16 };
struct mesh {
  int64_t groups, group_size;
  bool inside[AXES]; /* true if the devices of a group differ along this axis */
};

/* Marks the axes along which the devices of a group differ. Returns false for a part of an axis, and for an invalid or repeated
 * axis. */
static bool mark_axes(struct mesh *m, const Hlo__MeshAxesReplicaGroupListProto *list) {
  for (size_t i = 0; i < list->n_axes; i++) {
    const Hlo__AxisRefProto *axis = list->axes[i];
    int64_t at = axis->mesh_axis_index;
    if (axis->sub_axis_info.len || axis->base.n_unknown_fields) return false;
    if (at < 0 || at >= (int64_t)list->mesh->n_axes || m->inside[at]) return false;
    m->inside[at] = true;
  }
  return list->n_axes > 0;
}

static bool count_groups(struct mesh *m, const Hlo__MeshProto *mesh) {
  m->groups = m->group_size = 1;
  for (size_t i = 0; i < mesh->n_axes; i++) {
    int64_t *product = m->inside[i] ? &m->group_size : &m->groups, size = mesh->axes[i]->size;
    if (size <= 0 || size > UINT32_MAX || (*product *= size) > UINT32_MAX) return false;
  }
  return true;
}

/* Parses a mesh. A mesh with an explicit order of devices is supported only if all devices are in one group. */
static bool parse_mesh(struct mesh *m, const Hlo__MeshAxesReplicaGroupListProto *list) {
  const Hlo__MeshProto *mesh = list->mesh;
  if (!mesh || mesh->n_axes > AXES || list->base.n_unknown_fields) return false;
  bool listed = mesh->n_device_ids || mesh->base.n_unknown_fields;
  return mark_axes(m, list) && count_groups(m, mesh) && (m->groups == 1 || !listed);
}

/* Prints groups along axes: axes 'a'=2, 'b'=4 with groups along 'a' are "[4,2]<=[2,4]T(1,0)". */
static bool put_mesh(struct buf *b, const Hlo__MeshAxesReplicaGroupListProto *list) {
  struct mesh m = {0};
  const char *before = "T(";
  if (!parse_mesh(&m, list)) return false;
  json_put_int(b, "[", m.groups);
  json_put_int(b, ",", m.group_size);
  for (size_t i = 0; i < list->mesh->n_axes; i++) json_put_int(b, i ? "," : "]<=[", list->mesh->axes[i]->size);
  buf_text(b, "]");
  for (size_t i = 0; i < list->mesh->n_axes; i++)
    if (!m.inside[i]) json_put_int(b, before, (int64_t)i), before = ",";
  for (size_t i = 0; i < list->n_axes; i++) json_put_int(b, before, list->axes[i]->mesh_axis_index), before = ",";
  buf_text(b, ")");
  return true;
}

/* Prints the groups in the same form as XLA; if there are several forms, the newest is used. Returns false if the form is
 * unknown. */
static bool put_devices(struct buf *b, const Hlo__HloInstructionProto *i) {
  const Hlo__CollectiveDeviceListProto *devices = i->collective_device_list;
  if (i->iota_collective_device_list) return put_iota(b, i->iota_collective_device_list);
  if (i->mesh_axes_replica_group_list) return put_mesh(b, i->mesh_axes_replica_group_list);
  if (!devices) return put_groups(b, i->n_replica_groups, i->replica_groups);
  if (devices->iota_replica_group_list) return put_iota(b, devices->iota_replica_group_list);
  return !devices->base.n_unknown_fields && put_groups(b, devices->n_replica_groups, devices->replica_groups);
}

/* Returns a copy of the text that lives as long as the result, NULL when memory runs out. Thousands of collectives share the
 * same long lists. */
static const char *lasting_text(struct hlo_reader *r) {
  uint64_t hash = hash_text(r->text.data, r->text.len);
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
enum { BY_REPLICA = 3 }; /* from this index on, ids are partitions if the collective has a channel */

/* Returns the index of an opcode such as "all-reduce" or "all-reduce-start"; -1 for opcodes that are not needed. A "-done" op
 * contains nothing new. */
static int opcode_of(struct hlo_text text) {
  static const char START[] = "-start";
  if (text.n > strlen(START) && memcmp(text.p + text.n - strlen(START), START, strlen(START)) == 0) text.n -= strlen(START);
  for (int i = 0; i < (int)(sizeof OPCODES / sizeof *OPCODES); i++)
    if (text_is(text, OPCODES[i])) return i;
  return -1;
}

static bool add_collective(struct hlo_reader *r, const struct hlo_collective *c) {
  struct hlo_collectives *out = r->out;
  if (!mem_grow(r->arena->mem, (void **)&out->v, &out->cap, (uint64_t)out->n + 1, sizeof *out->v)) return false;
  out->v[out->n++] = *c;
  return true;
}

/* Adds an "async-start", which runs another computation that contains the collective. */
static bool read_wrapper(struct hlo_reader *r, struct hlo_text op, const Hlo__HloInstructionProto *i) {
  const uint32_t *at = i->n_called_computation_ids ? map_get(&r->wrapped, (uint64_t)i->called_computation_ids[0]) : NULL;
  if (!at) return true;
  struct hlo_collective c = r->out->v[*at - 1];
  c.op = op;
  return add_collective(r, &c);
}

static bool read_collective(struct hlo_reader *r, struct hlo_text op, int opcode, const Hlo__HloInstructionProto *i) {
  struct hlo_collective h = {.module = r->module, .op = op, .program = r->program, .opcode = OPCODES[opcode]};
  r->text.len = 0;
  if (i) h.global = i->use_global_device_ids || (i->channel_id > 0 && opcode >= BY_REPLICA);
  if (i && put_devices(&r->text, i) && (h.groups = lasting_text(r)) == NULL) return false;
  return add_collective(r, &h);
}

/* Reads an instruction. A damaged collective is added without groups. */
static bool read_instruction(struct hlo_reader *r, struct pb instruction) {
  struct mem *mem = r->arena->mem;
  struct pb c = instruction;
  struct hlo_text op = {0}, name_of_opcode = {0};
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(HLO_INSTRUCTION_NAME, PB_BYTES)) op = hlo_text_of(&f);
    if (pb_field_key(&f) == PB_KEY(HLO_INSTRUCTION_OPCODE, PB_BYTES)) name_of_opcode = hlo_text_of(&f);
  }
  int opcode = opcode_of(name_of_opcode);
  bool wraps = text_is(name_of_opcode, "async-start");
  if (op.n == 0 || (opcode < 0 && !wraps)) return true;
  Hlo__HloInstructionProto *i = pb_unpack(&hlo__hlo_instruction_proto__descriptor, instruction, mem);
  bool ok = !mem->failed;
  if (ok && opcode >= 0) ok = read_collective(r, op, opcode, i);
  else if (ok && i) ok = read_wrapper(r, op, i);
  pb_unpack_free(i, mem);
  return ok;
}

static bool read_computation(struct hlo_reader *r, struct pb computation) {
  uint32_t first = r->out->n;
  uint64_t id = 0;
  struct pb c = computation;
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(HLO_COMPUTATION_ID, PB_VARINT)) id = f.value;
  for (c = computation; pb_next(&c, &f);)
    if (pb_field_key(&f) == PB_KEY(HLO_COMPUTATION_INSTRUCTIONS, PB_BYTES) && !read_instruction(r, pb_inside(&f))) return false;
  return r->out->n != first + 1 || map_put(&r->wrapped, id, first + 1);
}

/* ---- programs ---- */

static bool read_module(struct hlo_reader *r, struct pb module) {
  struct pb c = module;
  struct pb_field f;
  bool ok = true;
  r->module = (struct hlo_text){0};
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(HLO_MODULE_NAME, PB_BYTES)) r->module = hlo_text_of(&f);
  map_init(&r->wrapped, r->arena->mem);
  for (c = module; ok && pb_next(&c, &f);)
    if (pb_field_key(&f) == PB_KEY(HLO_MODULE_COMPUTATIONS, PB_BYTES)) ok = read_computation(r, pb_inside(&f));
  map_free(&r->wrapped);
  return ok;
}

static bool read_programs(struct hlo_reader *r, struct pb plane) {
  struct xplane_names names;
  struct xplane_program program;
  struct pb_field f, module;
  bool ok = true;
  xplane_names_of(&names, plane, r->arena->mem);
  while (ok && pb_next(&plane, &f)) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES) || !xplane_program_of(&program, &names, &f)) continue;
    r->program = program.id;
    while (ok && pb_next(&program.hlo, &module))
      if (pb_field_key(&module) == PB_KEY(HLO_MODULE, PB_BYTES)) ok = read_module(r, pb_inside(&module));
  }
  xplane_names_free(&names);
  return ok;
}

bool xplane_hlo(struct hlo_collectives *h, const struct tk_trace *t, struct arena *arena) {
  struct hlo_reader r = {.out = h, .arena = arena, .text = {.mem = arena->mem}};
  struct xplane_plane plane;
  uint32_t n;
  const uint8_t *planes = xplane_table(t, XPLANE_META_PLANES, sizeof plane, &n);
  bool ok = true;
  *h = (struct hlo_collectives){0};
  map_init(&r.texts, arena->mem);
  for (uint32_t i = 0; ok && i < n; i++) { /* entries are copied, because the table is not aligned */
    memcpy(&plane, planes + i * sizeof plane, sizeof plane);
    if (strcmp(tk_string(t, plane.name, NULL), XPLANE_METADATA) == 0) ok = read_programs(&r, xplane_fields(t, &plane));
  }
  map_free(&r.texts);
  buf_free(&r.text);
  return ok && !arena->mem->failed;
}

void xplane_hlo_free(struct hlo_collectives *h, struct mem *mem) {
  mem_free(mem, h->v);
  *h = (struct hlo_collectives){0};
}
