/* test_hlo_proto.c - the cursor's field numbers match proto/hlo.proto; collectives of programs packed by protobuf-c are decoded
 * to XLA's own text; damaged programs are never taken as complete; pb_unpack refuses input that protobuf-c must not see. */
#include "help.h"

#include <protobuf-c/protobuf-c.h>

#include "format/pb_out.h"
#include "format/pb_unpack.h"
#include "format/xplane/fields.h"
#include "format/xplane/hlo.h"
#include "hlo.pb-c.h"

/* The field numbers used by the cursor, to compare with protobuf-c's. */
static void field_numbers(void **state) {
  static const struct {
    const ProtobufCMessageDescriptor *message;
    const char *field;
    unsigned number;
  } NUMBERS[] = {
      {&hlo__hlo_proto__descriptor, "hlo_module", HLO_MODULE},
      {&hlo__hlo_module_proto__descriptor, "name", HLO_MODULE_NAME},
      {&hlo__hlo_module_proto__descriptor, "computations", HLO_MODULE_COMPUTATIONS},
      {&hlo__hlo_computation_proto__descriptor, "instructions", HLO_COMPUTATION_INSTRUCTIONS},
      {&hlo__hlo_computation_proto__descriptor, "id", HLO_COMPUTATION_ID},
      {&hlo__hlo_instruction_proto__descriptor, "name", HLO_INSTRUCTION_NAME},
      {&hlo__hlo_instruction_proto__descriptor, "opcode", HLO_INSTRUCTION_OPCODE},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(NUMBERS); i++) {
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(NUMBERS[i].message, NUMBERS[i].field);
    assert_non_null(f);
    assert_int_equal(f->id, NUMBERS[i].number);
  }
}

/* ---- building ---- */

#define BYTES(s) ((ProtobufCBinaryData){strlen(s), (uint8_t *)(uintptr_t)(s)})

static struct buf packed(struct mem *mem, const void *message) {
  struct buf b = {.mem = mem};
  size_t n = protobuf_c_message_get_packed_size(message);
  assert_non_null(buf_reserve(&b, n + 1));
  b.len = protobuf_c_message_pack(message, b.data);
  return b;
}

static Hlo__HloInstructionProto instruction(const char *name, const char *opcode) {
  Hlo__HloInstructionProto i = HLO__HLO_INSTRUCTION_PROTO__INIT;
  i.name = BYTES(name);
  i.opcode = BYTES(opcode);
  return i;
}

/* Adds an entry to a map of a plane; `stats` is encoded fields of the metadata. */
static void entry(struct buf *plane, uint32_t map, int64_t id, const char *name, const struct buf *stats) {
  struct buf m = {.mem = plane->mem}, e = {.mem = plane->mem};
  pb_i64(&m, XEVENT_METADATA_KEY, id);
  pb_bytes(&m, XEVENT_METADATA_NAME, name, strlen(name));
  if (stats) buf_append(&m, stats->data, stats->len);
  pb_i64(&e, MAP_KEY, id);
  pb_message(&e, MAP_VALUE, &m);
  pb_message(plane, map, &e);
  buf_free(&m);
  buf_free(&e);
}

struct spelling {
  const char *plane, *stat, *program; /* NULL = as JAX writes them */
  int64_t id, program_id;             /* of the event metadata; 0 = no such stat */
};

/* Returns the graph of an XSpace that contains the program. */
static struct tk_trace *space_of(struct mem *mem, const void *hlo, size_t n, struct spelling as) {
  struct buf space = {.mem = mem}, plane = {.mem = mem}, stats = {.mem = mem}, s = {.mem = mem};
  const char *name = as.plane ? as.plane : "/host:metadata";
  struct tk_err err;
  pb_bytes(&plane, XPLANE_NAME, name, strlen(name));
  pb_i64(&s, XSTAT_METADATA_ID, 4);
  pb_bytes(&s, XSTAT_BYTES, hlo, n);
  pb_message(&stats, XEVENT_METADATA_STATS, &s);
  s.len = 0;
  pb_i64(&s, XSTAT_METADATA_ID, 5);
  pb_i64(&s, XSTAT_UINT64, as.program_id);
  if (as.program_id) pb_message(&stats, XEVENT_METADATA_STATS, &s);
  entry(&plane, XPLANE_EVENT_METADATA, as.id, as.program ? as.program : "jit_step(77)", &stats);
  entry(&plane, XPLANE_STAT_METADATA, 4, as.stat ? as.stat : "Hlo Proto", NULL);
  entry(&plane, XPLANE_STAT_METADATA, 5, "program_id", NULL);
  pb_message(&space, XSPACE_PLANES, &plane);
  struct tk_trace *t = feed_bytes(space.data, space.len, (struct feed){.format = "xplane"}, &err);
  if (!t) fail_msg("%s", err.msg);
  buf_free(&space);
  buf_free(&plane);
  buf_free(&stats);
  buf_free(&s);
  return t;
}

/* Returns a line "module/program op opcode groups global" per collective; the caller frees it. */
static char *told(const void *hlo, size_t n, struct spelling as) {
  struct mem mem = {0};
  struct arena arena = {.mem = &mem};
  struct hlo_collectives h;
  struct tk_trace *t = space_of(&mem, hlo, n, as);
  char *text = calloc(1, 1 << 16), *end = text;
  assert_true(xplane_hlo(&h, t, &arena));
  for (uint32_t i = 0; i < h.n && end < text + 60000; i++) {
    const struct hlo_collective *c = &h.v[i];
    end += sprintf(end, "%.*s/%llu %.*s %s %s%s\n", (int)c->module.n, (const char *)c->module.p, (unsigned long long)c->program,
                   (int)c->op.n, (const char *)c->op.p, c->opcode, c->groups ? c->groups : "?", c->global ? " global" : "");
  }
  xplane_hlo_free(&h, &mem);
  arena_free(&arena);
  tk_free(t);
  assert_int_equal(mem.used, 0);
  return text;
}

static void tells(const void *hlo, size_t n, struct spelling as, const char *wanted) {
  char *got = told(hlo, n, as);
  assert_string_equal(got, wanted);
  free(got);
}

/* ---- a program with all forms ---- */

static Hlo__ReplicaGroup group_a = HLO__REPLICA_GROUP__INIT, group_b = HLO__REPLICA_GROUP__INIT, group_c = HLO__REPLICA_GROUP__INIT;
static Hlo__IotaReplicaGroupListProto iota = HLO__IOTA_REPLICA_GROUP_LIST_PROTO__INIT, line = HLO__IOTA_REPLICA_GROUP_LIST_PROTO__INIT;
static int64_t ids_a[] = {0, 2}, ids_b[] = {1, 300}, ids_c[] = {0, 1, 2, 3}, dims[] = {2, 4}, whole[] = {8}, callee[] = {9};
static int32_t order[] = {1, 0}, straight[] = {0};
static Hlo__ReplicaGroup *two[] = {&group_a, &group_b}, *one[] = {&group_c};

static void make_groups(void) {
  group_a.n_replica_ids = group_b.n_replica_ids = 2;
  group_c.n_replica_ids = 4;
  group_a.replica_ids = ids_a;
  group_b.replica_ids = ids_b;
  group_c.replica_ids = ids_c;
  iota.num_replica_groups = 4;
  iota.num_devices_per_group = iota.n_iota_reshape_dims = iota.n_iota_transpose_perm = 2;
  iota.iota_reshape_dims = dims;
  iota.iota_transpose_perm = order;
  line.num_replica_groups = line.n_iota_reshape_dims = line.n_iota_transpose_perm = 1;
  line.num_devices_per_group = 8;
  line.iota_reshape_dims = whole;
  line.iota_transpose_perm = straight;
}

static void pack_program(struct mem *mem, Hlo__HloInstructionProto *const *inner, size_t n_inner, Hlo__HloInstructionProto *const *main,
                         size_t n_main, struct buf *hlo) {
  Hlo__HloComputationProto callees = HLO__HLO_COMPUTATION_PROTO__INIT, entry_computation = HLO__HLO_COMPUTATION_PROTO__INIT;
  Hlo__HloComputationProto *computations[] = {&callees, &entry_computation};
  Hlo__HloModuleProto module = HLO__HLO_MODULE_PROTO__INIT;
  Hlo__HloProto proto = HLO__HLO_PROTO__INIT;
  callees.id = 9;
  callees.instructions = (Hlo__HloInstructionProto **)(uintptr_t)inner;
  callees.n_instructions = n_inner;
  entry_computation.id = 10;
  entry_computation.instructions = (Hlo__HloInstructionProto **)(uintptr_t)main;
  entry_computation.n_instructions = n_main;
  module.name = BYTES("jit_step");
  module.computations = computations;
  module.n_computations = 2;
  proto.hlo_module = &module;
  *hlo = packed(mem, &proto);
}

static void forms(void **state) {
  struct mem mem = {0};
  struct buf hlo;
  Hlo__CollectiveDeviceListProto listed = HLO__COLLECTIVE_DEVICE_LIST_PROTO__INIT, short_form = HLO__COLLECTIVE_DEVICE_LIST_PROTO__INIT;
  Hlo__HloInstructionProto scatter = instruction("reduce-scatter.1", "reduce-scatter"), old = instruction("all-reduce.2", "all-reduce"),
      list = instruction("all-gather-start.3", "all-gather-start"), by_iota = instruction("psum.4", "all-reduce"),
      newer = instruction("all-reduce.5", "all-reduce"),
      none = instruction("all-reduce.7", "all-reduce"), parts = instruction("all-to-all.8", "all-to-all"),
      start = instruction("async-start.9", "async-start"), done = instruction("all-gather-done.3", "all-gather-done"),
      other = instruction("add.1", "add"), astray = instruction("async-start.10", "async-start");
  Hlo__HloInstructionProto *inner[] = {&other, &scatter};
  Hlo__HloInstructionProto *main[] = {&other, &old, &list, &done, &by_iota, &newer, &none, &parts, &start, &astray};
  (void)state;
  make_groups();
  listed.replica_groups = two;
  listed.n_replica_groups = 2;
  short_form.iota_replica_group_list = &iota;
  scatter.replica_groups = old.replica_groups = newer.replica_groups = parts.replica_groups = two;
  scatter.n_replica_groups = old.n_replica_groups = newer.n_replica_groups = parts.n_replica_groups = 2;
  old.channel_id = parts.channel_id = 3;
  scatter.use_global_device_ids = true;
  list.collective_device_list = &listed;
  list.replica_groups = one; /* overridden by the device list */
  list.n_replica_groups = 1;
  by_iota.collective_device_list = &short_form;
  newer.iota_collective_device_list = &line;
  start.called_computation_ids = callee;
  start.n_called_computation_ids = 1;
  pack_program(&mem, inner, 2, main, LENGTH(main), &hlo);
  tells(hlo.data, hlo.len, (struct spelling){.id = 1},
        "jit_step/77 reduce-scatter.1 reduce-scatter {{0,2},{1,300}} global\n"
        "jit_step/77 all-reduce.2 all-reduce {{0,2},{1,300}}\n"
        "jit_step/77 all-gather-start.3 all-gather {{0,2},{1,300}}\n"
        "jit_step/77 psum.4 all-reduce [4,2]<=[2,4]T(1,0)\n"
        "jit_step/77 all-reduce.5 all-reduce [1,8]<=[8]\n"
        "jit_step/77 all-reduce.7 all-reduce {}\n"
        "jit_step/77 all-to-all.8 all-to-all {{0,2},{1,300}} global\n"
        "jit_step/77 async-start.9 reduce-scatter {{0,2},{1,300}} global\n");
  buf_free(&hlo);
  assert_int_equal(mem.used, 0);
}

/* Checks the replica groups of a 2 x 3 x 4 mesh that is grouped by the axes `grouped` (terminated by -1). */
static void mesh_says(const int *grouped, const char *part, size_t n_ids, const char *wanted) {
  struct mem mem = {0};
  struct buf hlo;
  char line_wanted[100];
  int64_t ids[24] = {0};
  Hlo__MeshProto__MeshAxis axes[3], *axis[3];
  Hlo__AxisRefProto refs[3], *ref[3];
  Hlo__MeshProto mesh = HLO__MESH_PROTO__INIT;
  Hlo__MeshAxesReplicaGroupListProto list = HLO__MESH_AXES_REPLICA_GROUP_LIST_PROTO__INIT;
  Hlo__HloInstructionProto op = instruction("x", "all-reduce"), *main[] = {&op};
  for (int i = 0; i < 3; i++) {
    hlo__mesh_proto__mesh_axis__init(axis[i] = &axes[i]);
    hlo__axis_ref_proto__init(ref[i] = &refs[i]);
    axes[i].size = i + 2;
  }
  for (; grouped[list.n_axes] >= 0; list.n_axes++) refs[list.n_axes].mesh_axis_index = grouped[list.n_axes];
  refs[0].sub_axis_info = BYTES(part);
  mesh.axes = axis;
  mesh.n_axes = 3;
  mesh.device_ids = ids;
  mesh.n_device_ids = n_ids;
  list.mesh = &mesh;
  list.axes = ref;
  op.mesh_axes_replica_group_list = &list;
  pack_program(&mem, NULL, 0, main, 1, &hlo);
  snprintf(line_wanted, sizeof line_wanted, "jit_step/77 x all-reduce %s\n", wanted);
  tells(hlo.data, hlo.len, (struct spelling){.id = 1}, line_wanted);
  buf_free(&hlo);
}

static void meshes(void **state) {
  (void)state;
  mesh_says((const int[]){0, -1}, "", 0, "[12,2]<=[2,3,4]T(1,2,0)");
  mesh_says((const int[]){2, 0, -1}, "", 0, "[3,8]<=[2,3,4]T(1,2,0)");
  mesh_says((const int[]){0, 1, 2, -1}, "", 0, "[1,24]<=[2,3,4]T(0,1,2)");
  mesh_says((const int[]){0, 1, 2, -1}, "", 24, "[1,24]<=[2,3,4]T(0,1,2)"); /* all axes, in any order */
  mesh_says((const int[]){0, -1}, "", 24, "?");
  mesh_says((const int[]){0, -1}, "\x08\x01", 0, "?");
  mesh_says((const int[]){3, -1}, "", 0, "?");
  mesh_says((const int[]){1, 1, -1}, "", 0, "?");
  mesh_says((const int[]){-1}, "", 0, "?");
}

static void spellings(void **state) {
  struct mem mem = {0};
  struct buf hlo;
  Hlo__HloInstructionProto op = instruction("all-reduce", "all-reduce");
  Hlo__HloInstructionProto *main[] = {&op};
  (void)state;
  pack_program(&mem, NULL, 0, main, 1, &hlo);
  tells(hlo.data, hlo.len, (struct spelling){.id = 1, .stat = "hlo_proto"}, "jit_step/77 all-reduce all-reduce {}\n");
  tells(hlo.data, hlo.len, (struct spelling){.id = 1, .program = "jit_step(18446744073709551615)", .program_id = 5},
        "jit_step/18446744073709551615 all-reduce all-reduce {}\n");
  tells(hlo.data, hlo.len, (struct spelling){.id = 1, .program = "jit_step", .program_id = 5}, "jit_step/5 all-reduce all-reduce {}\n");
  tells(hlo.data, hlo.len, (struct spelling){.id = 6, .program = "jit_step()"}, "jit_step/6 all-reduce all-reduce {}\n");
  tells(hlo.data, hlo.len, (struct spelling){.id = 6, .program = "5)"}, "jit_step/6 all-reduce all-reduce {}\n");
  tells(hlo.data, hlo.len, (struct spelling){.id = 1, .stat = "symbol"}, "");
  tells(hlo.data, hlo.len, (struct spelling){.id = 1, .plane = "/host:CPU"}, "");
  buf_free(&hlo);
}

/* ---- unpacked ids, and damage ---- */

enum { REPLICA_GROUPS = 49, REPLICA_IDS = 1 };

/* Decodes a program whose only instruction is the message. */
static char *told_of(struct mem *mem, const struct buf *message) {
  struct buf computation = {.mem = mem}, module = {.mem = mem}, hlo = {.mem = mem};
  pb_message(&computation, HLO_COMPUTATION_INSTRUCTIONS, message);
  pb_message(&module, HLO_MODULE_COMPUTATIONS, &computation);
  pb_message(&hlo, HLO_MODULE, &module);
  char *text = told(hlo.data, hlo.len, (struct spelling){.id = 1});
  buf_free(&computation);
  buf_free(&module);
  buf_free(&hlo);
  return text;
}

static struct buf one_instruction(struct mem *mem, const int64_t *ids, size_t n) {
  struct buf b = {.mem = mem}, group = {.mem = mem};
  for (size_t i = 0; i < n; i++) pb_i64(&group, REPLICA_IDS, ids[i]);
  pb_bytes(&b, HLO_INSTRUCTION_NAME, "x", 1);
  pb_bytes(&b, HLO_INSTRUCTION_OPCODE, "all-gather", 10);
  pb_message(&b, REPLICA_GROUPS, &group);
  pb_message(&b, REPLICA_GROUPS, &group);
  buf_free(&group);
  return b;
}

static void ids_one_by_one(void **state) {
  struct mem mem = {0};
  struct buf b = one_instruction(&mem, (const int64_t[]){7, 0, -1}, 3);
  char *got = told_of(&mem, &b);
  (void)state;
  assert_string_equal(got, "/77 x all-gather {{7,0,-1},{7,0,-1}}\n");
  free(got);
  buf_free(&b);
}

/* An instruction truncated inside a field has unknown groups. */
static void cut_short(void **state) {
  struct mem mem = {0};
  struct buf b = one_instruction(&mem, (const int64_t[]){1, 1000}, 2);
  size_t whole_length = b.len, unknown = 0;
  (void)state;
  for (b.len = 0; b.len < whole_length; b.len++) {
    struct pb c = pb_over(b.data, b.len);
    struct pb_field f;
    while (pb_next(&c, &f)) {}
    char *got = told_of(&mem, &b);
    if (c.fault && *got) assert_string_equal(got, "/77 x all-gather ?\n");
    unknown += c.fault && *got;
    free(got);
  }
  assert_true(unknown > 5);
  b.len = whole_length;
  b.data[b.len - 1] |= 0x80; /* inside the last group */
  char *got = told_of(&mem, &b);
  assert_string_equal(got, "/77 x all-gather ?\n");
  free(got);
  buf_free(&b);
}

/* Sets each byte to any value: decoding must end without reading out of bounds (checked with SAN=1). */
static void any_byte(void **state) {
  struct mem mem = {0};
  struct buf hlo;
  Hlo__CollectiveDeviceListProto listed = HLO__COLLECTIVE_DEVICE_LIST_PROTO__INIT;
  Hlo__HloInstructionProto op = instruction("all-reduce.1", "all-reduce"), start = instruction("async-start", "async-start");
  Hlo__HloInstructionProto *inner[] = {&op}, *main[] = {&start};
  (void)state;
  make_groups();
  listed.iota_replica_group_list = &iota;
  op.collective_device_list = &listed;
  start.called_computation_ids = callee;
  start.n_called_computation_ids = 1;
  pack_program(&mem, inner, 1, main, 1, &hlo);
  for (size_t i = 0; i < hlo.len; i++) {
    for (unsigned v = 0; v < 256; v += 5) {
      uint8_t was = hlo.data[i];
      hlo.data[i] = (uint8_t)v;
      free(told(hlo.data, hlo.len, (struct spelling){.id = 1}));
      hlo.data[i] = was;
    }
    free(told(hlo.data, i, (struct spelling){.id = 1}));
  }
  buf_free(&hlo);
}

static void out_of_memory(void **state) {
  struct mem mem = {0}, small = {0};
  struct buf hlo;
  Hlo__HloInstructionProto op = instruction("all-reduce.1", "all-reduce"), *main[600];
  bool ok = false;
  unsigned failures = 0;
  (void)state;
  for (size_t i = 0; i < LENGTH(main); i++) main[i] = &op;
  pack_program(&mem, NULL, 0, main, LENGTH(main), &hlo);
  struct tk_trace *t = space_of(&mem, hlo.data, hlo.len, (struct spelling){.id = 1});
  for (small.limit = 64; !ok; small.limit += 500) {
    struct arena arena = {.mem = &small};
    struct hlo_collectives h;
    small.failed = false;
    ok = xplane_hlo(&h, t, &arena);
    assert_true(!ok || h.n == LENGTH(main));
    failures += !ok;
    xplane_hlo_free(&h, &small);
    arena_free(&arena);
    assert_int_equal(small.used, 0);
  }
  assert_true(failures > 10);
  tk_free(t);
  buf_free(&hlo);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(field_numbers), cmocka_unit_test(forms), cmocka_unit_test(meshes), cmocka_unit_test(spellings),
      cmocka_unit_test(ids_one_by_one), cmocka_unit_test(cut_short), cmocka_unit_test(any_byte),
      cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
