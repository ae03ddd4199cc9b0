/* kineto.c - collects the collectives of one rank from kernels on device tracks: NCCL and RCCL in Kineto's traces, HCCL in
 * msprof's.
 *
 * Newer PyTorch records the group and a sequence number, which identify the collective on every rank. Older versions record
 * name and sizes; the oldest record only the kernel's name. Collectives with a root, and messages between two ranks, do not end
 * at the same time on all ranks. They only prove that one rank did not leave before another rank arrived. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kineto.h"
#include "base/glob.h"
#include "base/os.h"
#include "base/text.h"
#include "collector.h"
#include "graph/kind.h"
#include "payload.h"
#include "vendor.h"

static const char COLLECTIVE_NAME[] = "Collective name";

/* ---- classes of collectives ---- */

/* Hashes a name without template arguments, argument types and the index that some vendors append, because these parts differ
 * between builds or ranks. */
static uint64_t hash_of_name(const char *name, size_t n) {
  struct vendor_name v;
  if (vendor_parse(name, &v)) return hash_mix(hash_bytes(name, v.op), hash_bytes(v.group, v.group_size));
  const char *paren = memchr(name, '(', n);
  return hash_mix(1, hash_bytes(name, paren ? (size_t)(paren - name) : n));
}

enum { BY_NAME = 1, BY_ARGS = 2, AS_ASKED = 3, BY_CPU = 4 };

/* Marks the classes of kernels that have the arg "Collective name" on at least one event, so that all their events are
 * examined. Sets *any if there are any. */
static void find_by_args(struct collector *c, const struct kinds *kinds, bool *any) {
  const struct tk_trace *t = c->t;
  tk_id key = trace_text_id(t, COLLECTIVE_NAME);
  for (tk_id i = 1; key && i <= t->n_events; i++) {
    tk_id cls = t->events[i].cls;
    if (c->how[cls] || !(kinds->of_class[cls] & KIND_KERNEL)) continue;
    struct tk_args it = tk_args_of(t, t->events[i].args);
    uint32_t k = 0;
    while (it.shape && k < it.shape->n && it.shape->fields[k].key != key) k++;
    if (!it.shape || k == it.shape->n) continue;
    size_t n;
    const char *name = tk_string(t, t->classes[cls].name, &n);
    c->of_class[cls] = hash_of_name(name, n);
    c->how[cls] = BY_ARGS;
    *any = true;
  }
}

/* Marks the CPU spans whose names begin with `head` as collectives, except one-way operations. Called only if no kernel is a
 * collective: first for c10d, then, if c10d has none, for its backends, whose spans are nested in those of c10d. */
static void find_rows(struct collector *c, const struct kinds *kinds, const char *head, bool *any) {
  static const char *const one_way[] = {"broadcast", "_broadcast", "reduce_ ", "reduce ", "gather_ ", "gather ", "scatter", "send",
                                        "recv", NULL};
  for (tk_id i = 1; i <= c->t->n_classes; i++) {
    size_t n;
    char text[96];
    const char *name = tk_string(c->t, c->t->classes[i].name, &n);
    if (!text_begins(name, head) || kinds->of_class[i] & (KIND_KERNEL | KIND_DEVICE)) continue;
    snprintf(text, sizeof text, "%s ", name + strlen(head));
    if (text_any_begins(text, one_way)) continue;
    c->of_class[i] = hash_of_name(name, n);
    c->how[i] = BY_CPU;
    *any = true;
  }
}

static bool find_classes(struct collector *c) {
  const struct kinds *kinds = &c->kinds;
  const char *marker = c->from->marker;
  bool any = false;
  c->of_class = arena_alloc(&c->arena, ((size_t)c->t->n_classes + 1) * sizeof *c->of_class);
  c->how = arena_alloc(&c->arena, (size_t)c->t->n_classes + 1);
  bool ok = c->of_class && c->how && kinds_init(&c->kinds, c->t, c->out->mem);
  for (tk_id i = 1; ok && i <= c->t->n_classes; i++) {
    size_t n;
    const char *name = tk_string(c->t, c->t->classes[i].name, &n);
    unsigned kind = kinds->of_class[i];
    bool is = marker ? strcmp(name, marker) == 0 || glob_matches(marker, name)
                     : (kind & (KIND_COLLECTIVE | KIND_KERNEL)) == (KIND_COLLECTIVE | KIND_KERNEL);
    bool asked = !marker && !is && c->from->anchor && regexp_matches(c->from->anchor, name);
    c->of_class[i] = is || asked ? hash_of_name(name, n) : 0;
    c->how[i] = is ? BY_NAME : asked ? AS_ASKED : 0;
    any = any || is || asked;
  }
  if (ok && !marker) find_by_args(c, kinds, &any);
  if (ok && !marker && !any) find_rows(c, kinds, "c10d::", &any);
  if (ok && !marker && !any) find_rows(c, kinds, "nccl:", &any);
  return any;
}

/* ---- groups ---- */

static const struct align_group *listed_group(const struct collector *c, const char *name) {
  for (uint32_t i = 0; i < c->from->n_groups; i++)
    if (strcmp(c->from->groups[i].name, name) == 0) return &c->from->groups[i];
  return NULL;
}

/* Returns a hash of the ranks in "[0, 1, 2]", whatever the spacing; 0 if there are none. Equal to the hash of the same list in
 * the metadata. Sets *cut if the list is truncated: "[0, 1, ..., ...]". */
static uint64_t hash_of_ranks(const char *text, bool *cut) {
  uint64_t h = 0;
  *cut = text && strstr(text, "...");
  if (!text || *text != '[') return 0;
  for (const char *p = text + 1; *p && *p != ']' && *p != '.';) {
    char *end;
    long long rank = strtoll(p, &end, 10);
    if (end == p) return 0;
    h = hash_mix(h, (uint64_t)rank);
    for (p = end; *p == ',' || *p == ' ';) p++;
  }
  return h;
}

/* True if the group's name is the number of its communicator, as in Nsight Systems. Such a name is unique within the job. */
static bool is_communicator(const char *group) { return text_begins(group, "0x"); }

/* Returns a hash of the ranks in the kernel's group, from the rank's metadata or otherwise from the kernel's args. A truncated
 * list is enough together with name and size, because a rank belongs to only one group with that name. If there is no list (old
 * versions), sets *vague: several groups may have this name and size, unless the group contains all ranks. */
static uint64_t members_of(const struct collector *c, uint32_t args, const char *name, uint64_t name_hash, bool *vague) {
  tk_id id;
  int64_t size = 0;
  bool cut;
  const struct align_group *listed = listed_group(c, name);
  uint64_t said = hash_of_ranks(collect_text(c->t, args, "Process Group Ranks", &id), &cut);
  *vague = false;
  if (listed && listed->members) return listed->members;
  if (said && !cut) return said;
  collect_number(c->t, args, "Group size", &size);
  *vague = !said && !is_communicator(name) && (size == 0 || size != c->from->world);
  return hash_mix(hash_mix(hash_mix(name_hash, (uint64_t)size), 5), said);
}

/* Returns 1 + the index of the kernel's group among the groups of the rank; 0 if the args name no group. */
static uint32_t group_of(struct collector *c, uint32_t args) {
  tk_id name;
  const char *text = collect_text(c->t, args, "Process Group Name", &name);
  bool vague;
  if (!text) return 0;
  uint64_t members = members_of(c, args, text, collect_hash(c->t, name), &vague);
  uint32_t *slot = map_put(&c->groups, hash_mix(hash_mix(members, name), (uint64_t)c->rank), 0);
  if (!slot) return 0;
  if (!*slot) {
    if (!mem_grow(c->out->mem, (void **)&c->group, &c->cap_groups, (uint64_t)c->n_groups + 1, sizeof *c->group)) return 0;
    c->group[c->n_groups] = (struct collector_group){c->rank, members, name, strtoll(text, NULL, 10), 0, vague};
    *slot = ++c->n_groups;
  }
  return *slot;
}

/* ---- constraints on a collective ---- */

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names; names++)
    if (strcmp(name, *names) == 0) return true;
  return false;
}

/* True if this rank is the root. The arg "Rank" contains the root's position in the group. *known: false if the root or this
 * rank's position is unknown. */
static bool is_root(const struct collector *c, uint32_t args, bool *known) {
  tk_id id;
  int64_t root, own = c->rank;
  const char *group = collect_text(c->t, args, "Process Group Name", &id);
  const struct align_group *listed = group ? listed_group(c, group) : NULL;
  if (listed && listed->place >= 0) own = listed->place;
  *known = own >= 0 && collect_number(c->t, args, "Rank", &root);
  return *known && root == own;
}

/* True if every number of the list is known and positive; false for "[4, 0, 4]" and for a truncated "[4, 4, ...]". */
static bool all_positive(const char *list) {
  if (!list || *list != '[' || list[1] == ']') return false;
  for (const char *p = list + 1; *p && *p != ']';) {
    char *end;
    if (strtoll(p, &end, 10) <= 0 || end == p) return false;
    for (p = end; *p == ',' || *p == ' ';) p++;
  }
  return true;
}

static unsigned says(const struct collector *c, uint32_t args, const char *name) {
  static const char *const from_root[] = {"broadcast", "scatter", "_broadcast_oop", NULL};
  static const char *const to_root[] = {"gather", "reduce", "_reduce_oop", NULL};
  static const char *const uneven[] = {"all_to_allv", "alltoallv", NULL};
  tk_id id;
  bool known, out = is_one_of(name, from_root), in = is_one_of(name, to_root);
  if (strncmp(name, "send", 4) == 0) return ALIGN_SENDS;
  if (strncmp(name, "recv", 4) == 0) return ALIGN_RECEIVES;
  if (strncmp(name, "batch_isend", 11) == 0) return 0;
  if (out || in) return is_root(c, args, &known) ? out ? ALIGN_SENDS : ALIGN_RECEIVES : 0;
  if (!is_one_of(name, uneven)) return ALIGN_BARRIER;
  return (all_positive(collect_text(c->t, args, "In split size", &id)) ? ALIGN_SENDS : 0u) |
         (all_positive(collect_text(c->t, args, "Out split size", &id)) ? ALIGN_RECEIVES : 0u);
}

/* Returns the constraints (enum align_says) that follow from the kernel's name alone. Because the name does not list the ranks,
 * even a barrier of all ranks is only ALIGN_EQUAL unless the job has a single group. Broadcasts and reductions imply nothing,
 * because their root is unknown. A kernel that sends and receives is ALIGN_VAGUE: it may be an all-to-all or a message. */
static unsigned name_says(const char *name, bool one_group) {
  static const char *const barriers[] = {"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "allReduce", "allGather",
                                         "reduceScatter", "alltoall", "allreduce", "all_reduce", "cross_device_reduce", NULL};
  static const char *const others[] = {"Broadcast", "Bcast", "Reduce", "hcom_broadcast", "hcom_reduce", NULL};
  static const char *const uneven[] = {"alltoallv", "allToAllV", "allGatherV", "reduceScatterV", NULL};
  static const char *const unclear[] = {"SendRecv", "Send", "Recv", "Gather", "Scatter", "hcom_send", "hcom_receive", "deep_ep::",
                                        NULL};
  const char *end = strpbrk(name, "(<");
  char head[128];
  snprintf(head, sizeof head, "%.*s", end ? (int)(end - name < 120 ? end - name : 120) : 120, name);
  if (text_any_holds(head, uneven)) return ALIGN_VAGUE;
  if (text_any_holds(head, barriers)) return one_group && text_begins(head, "nccl") ? ALIGN_BARRIER : ALIGN_EQUAL;
  if (text_any_holds(head, others)) return 0;
  return text_any_holds(head, unclear) ? ALIGN_VAGUE : ALIGN_EQUAL;
}

static unsigned kernel_says(const struct collector *c, const struct tk_event *e) {
  if (c->how[e->cls] == BY_CPU) return ALIGN_VAGUE | ALIGN_COARSE;
  if (c->from->marker || c->how[e->cls] == AS_ASKED) return ALIGN_BARRIER;
  return name_says(tk_string(c->t, c->t->classes[e->cls].name, NULL), c->from->one_group);
}

/* ---- one anchor ---- */

/* Returns the key of a message, which is the same on the sender and on the receiver; 0 if one of the two ranks is unknown. */
static uint64_t pair_of(const struct collector *c, uint32_t args, bool sends) {
  int64_t other;
  if (c->rank < 0 || !collect_number(c->t, args, sends ? "Dst Rank" : "Src Rank", &other)) return 0;
  return hash_mix(hash_mix(11, (uint64_t)(sends ? c->rank : other)), (uint64_t)(sends ? other : c->rank));
}

/* Returns the label of a collective. For a message, the label depends only on data that sender and receiver record identically. */
static uint64_t label_of(const struct collector *c, uint32_t args, tk_id name, unsigned what) {
  static const char *const sizes[] = {"In msg nelems", "Out msg nelems", NULL};
  bool message = what == ALIGN_SENDS || what == ALIGN_RECEIVES;
  uint64_t label = hash_mix(2, collect_hash(c->t, name));
  int64_t v;
  tk_id id;
  if (message && strncmp(tk_string(c->t, name, NULL), what == ALIGN_SENDS ? "send" : "recv", 4) == 0)
    return pair_of(c, args, what == ALIGN_SENDS);
  for (const char *const *key = sizes; *key; key++)
    if (what == ALIGN_BARRIER && collect_number(c->t, args, *key, &v)) label = hash_mix(label, (uint64_t)v);
  if (collect_text(c->t, args, "dtype", &id)) label = hash_mix(label, collect_hash(c->t, id));
  return label;
}

/* Finds the step of a collective. If the device's own track has steps, it is the step that contains the kernel; otherwise the
 * step in which the kernel was launched, because the CPU runs ahead of the device. All markers count as part of step 0. */
static void find_step(const struct collector *c, const struct tk_event *e, struct align_anchor *a) {
  tk_id call = c->steps.n && c->steps.own[e->track] ? 0 : launches_call(&c->launches, e);
  a->stepped = c->from->marker || steps_of(&c->steps, call ? &c->t->events[call] : e, &a->step);
}

/* Returns the args that describe a kernel. Old versions store them on the op that launched it. Sets *op to the op of the
 * collective around the launch; 0 = none, or not needed. */
static uint32_t args_of(const struct collector *c, const struct tk_event *e, tk_id *op) {
  tk_id id, call;
  *op = 0;
  if (c->from->marker || collect_text(c->t, e->args, COLLECTIVE_NAME, &id)) return e->args;
  call = launches_call(&c->launches, e);
  *op = call ? launches_collective(&c->launches, call) : 0;
  return *op && collect_text(c->t, c->t->events[*op].args, COLLECTIVE_NAME, &id) ? c->t->events[*op].args : e->args;
}

/* Returns a label from the name of an op, such as "nccl:all_to_all", and the sizes of its inputs; 0 if the name has another
 * form. Sets *what to the constraints if the name implies them. */
static uint64_t label_of_op(const struct collector *c, tk_id op, unsigned *what) {
  static const char *const one_way[] = {"broadcast", "_broadcast", "reduce ", "gather ", "scatter ", "send ", "recv ", NULL};
  const struct tk_event *e = &c->t->events[op];
  struct tk_arg dims;
  char name[64];
  const char *text = tk_string(c->t, c->t->classes[e->cls].name, NULL);
  if (!text_begins(text, "nccl:")) return 0;
  snprintf(name, sizeof name, "%s ", text + 5);
  if (text_any_begins(name, one_way)) *what = 0;
  else if (!strstr(name, "coalesced")) *what = ALIGN_EQUAL;
  uint64_t label = hash_mix(4, hash_bytes(name, strlen(name)));
  if (!tk_args_find(c->t, e->args, "Input Dims", &dims) || (dims.type != TK_ARG_JSON && dims.type != TK_ARG_STR)) return label;
  return hash_mix(label, collect_hash(c->t, dims.s));
}

/* Stores the data for the table of collectives in the anchor. */
static void describe(struct collector *c, uint32_t args, const char *name, struct align_anchor *a) {
  tk_id id;
  int64_t in = 0, out = 0, most;
  if (!c->out->described) return;
  collect_name(c, a, name);
  const char *group = collect_text(c->t, args, "Process Group Description", &id), *dtype = collect_text(c->t, args, "dtype", &id);
  if (!group || !*group || strcmp(group, "undefined") == 0) group = collect_text(c->t, args, "Process Group Name", &id);
  if (group) collect_group(c, a, group);
  collect_number(c->t, args, "Seq", &a->seq);
  bool sized = collect_number(c->t, args, "In msg nelems", &in);
  sized = collect_number(c->t, args, "Out msg nelems", &out) || sized;
  int64_t size = dtype && sized ? payload_element(dtype) : 0;
  if (size && !__builtin_mul_overflow(in > out ? in : out, size, &most) && most >= 0) a->bytes = most;
}

/* Adds the type and number of elements from a vendor's args to the label, because all ranks agree on them. Stores the data for
 * the table of collectives. */
static void describe_vendor(struct collector *c, const struct tk_event *e, struct align_anchor *a) {
  struct vendor_name v;
  struct vendor_payload p;
  char text[64];
  const char *name = tk_string(c->t, c->t->classes[e->cls].name, NULL);
  const bool paid = vendor_payload(c->t, e->args, &p);
  if (!vendor_parse(name, &v)) return;
  if (a->says & ALIGN_EQUAL) a->says |= ALIGN_LOOSE;
  if (paid) a->label = hash_mix(hash_mix(a->label, collect_hash(c->t, p.type)), (uint64_t)p.count);
  if (!c->out->described) return;
  if (paid) a->bytes = vendor_bytes(c->t, name, &p);
  a->seq = v.index;
  snprintf(text, sizeof text, "%.*s", (int)(v.op < 60 ? v.op : 60), name);
  collect_name(c, a, text);
  snprintf(text, sizeof text, "%.*s", (int)(v.group_size < 60 ? v.group_size : 60), v.group);
  collect_group(c, a, text);
}

/* Stores the label, the group and the sequence number of a kernel, as found in its args. A message has a group only if its args
 * name the group and its peer is known. */
static void take_args(struct collector *c, uint32_t args, tk_id name, unsigned what, bool is_message, struct align_anchor *a) {
  tk_id ignored;
  int64_t seq;
  a->label = label_of(c, args, name, what);
  a->op = group_of(c, args);
  if (is_message && (!collect_text(c->t, args, "Process Group Name", &ignored) || !a->label)) a->op = 0;
  if (is_message && a->op) a->says |= ALIGN_MESSAGE;
  if (a->op && !is_message && collect_number(c->t, args, "Seq", &seq) && seq >= 0) a->exact = (uint64_t)seq + 1;
}

/* Adds the anchor of a kernel. Until make_keys runs, `exact` contains 1 + the sequence number, and `op` 1 + the index of the
 * group; 0 = none. */
static bool add_kernel(struct collector *c, const struct tk_event *e) {
  tk_id id = 0, op;
  if (c->how[e->cls] == BY_ARGS && !collect_text(c->t, e->args, COLLECTIVE_NAME, &id)) return true;
  uint32_t args = args_of(c, e, &op);
  const char *name = c->from->marker ? NULL : collect_text(c->t, args, COLLECTIVE_NAME, &id);
  unsigned what = name ? says(c, args, name) : kernel_says(c, e);
  const bool row = c->how[e->cls] == BY_CPU;
  if (row && name) what = what == ALIGN_BARRIER ? kernel_says(c, e) : 0; /* CPU spans do not wait for other ranks */
  bool rooted = name && !row && what != ALIGN_BARRIER && !strstr(name, "send") && !strstr(name, "recv");
  uint64_t told = op && !name ? label_of_op(c, op, &what) : 0;
  if (what == 0 && !rooted) return true;
  struct align_anchor *a = collect_add(c, e);
  if (!a) return false;
  a->says = (uint8_t)what;
  a->label = told ? told : c->of_class[e->cls];
  find_step(c, e, a);
  if (!name && told && c->out->described) a->bytes = payload_of_call(c->t, &c->t->events[op]);
  if (!name && !told) describe_vendor(c, e, a);
  if (!name) return true;
  describe(c, args, name, a);
  take_args(c, args, id, row ? ALIGN_BARRIER : what, !rooted && !row && what != ALIGN_BARRIER, a);
  return true;
}

/* ---- keys ---- */

static int by_members_and_number(const void *pa, const void *pb, void *groups) {
  const struct collector_group *a = (const struct collector_group *)groups + *(const uint32_t *)pa;
  const struct collector_group *b = (const struct collector_group *)groups + *(const uint32_t *)pb;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->members != b->members) return a->members < b->members ? -1 : 1;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

static bool place_groups(struct collector *c) {
  uint32_t *order = arena_alloc(&c->arena, ((size_t)c->n_groups + 1) * sizeof *order), place = 0;
  if (!order) return false;
  for (uint32_t i = 0; i < c->n_groups; i++) order[i] = i;
  os_sort(order, c->n_groups, sizeof *order, by_members_and_number, c->group);
  for (uint32_t i = 0; i < c->n_groups; i++) {
    const struct collector_group *own = &c->group[order[i]], *before = &c->group[order[i ? i - 1 : 0]];
    place = i && own->members == before->members && own->rank == before->rank ? place + 1 : 0;
    c->group[order[i]].place = place;
  }
  return true;
}

/* Computes the keys of all anchors. Messages get no exact key, because sender and receiver number them differently; they match
 * by their position in the step. */
static bool make_keys(struct collector *c) {
  struct align_anchor *v = c->out->v;
  if (!place_groups(c)) return false;
  for (uint32_t i = c->first; i < c->out->n; i++) {
    uint64_t seq = v[i].exact;
    uint32_t group = v[i].op;
    v[i].exact = v[i].op = 0;
    if (!group) continue;
    const struct collector_group *g = &c->group[group - 1];
    uint64_t who = hash_mix(g->members, g->place);
    v[i].label = hash_mix(v[i].label, who);
    if (g->vague && v[i].says & ALIGN_EQUAL) v[i].says = ALIGN_VAGUE;
    if (seq) v[i].exact = hash_mix(hash_mix(who, seq), 3);
  }
  return true;
}

bool collect_kernels(struct collector *c) {
  bool marker = c->from->marker, ok = find_classes(c);
  if (!ok) return !c->out->mem->failed;
  if (!marker && !steps_runs_init(&c->steps, &c->kinds, c->from->origins, c->out->mem)) return false;
  if (!marker && !launches_find(&c->launches, c->t, c->from->origins, c->of_class, c->out->mem)) return false;
  for (tk_id i = 1; ok && i <= c->t->n_events; i++) {
    const struct tk_event *e = &c->t->events[i];
    bool counts = e->kind == TK_EVENT_SPAN || (marker && e->kind == TK_EVENT_INSTANT);
    if (!c->of_class[e->cls] || !counts || e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_UNFINISHED | TK_FLAG_CLIPPED)) continue;
    c->rank = c->from->origins ? c->from->origins[e->track].rank : c->from->rank;
    ok = add_kernel(c, e);
  }
  return ok && make_keys(c);
}
