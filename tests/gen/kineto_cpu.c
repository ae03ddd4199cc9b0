/* kineto_cpu.c - ops, annotations, allocations and Python frames of the Kineto dialect. */
#include <string.h>

#include "kineto.h"

static bool on_backward_thread(const struct piece *p) { return p->phase == BACKWARD || p->phase == COMMUNICATION; }

static struct where thread_of(const struct kineto *k, const struct piece *p) {
  return on_backward_thread(p) ? k->backward : k->main;
}

int64_t kineto_elements(const struct piece *p) { return 2048 * (300 + (int64_t)(p->hash % 3000)); }

static void op_ids(struct kineto *k, uint64_t external) {
  kineto_key(k, "", "External id");
  put_u(external);
  kineto_key(k, ",", "Record function id");
  put_u(external - 1);
}

static void op(struct kineto *k, const struct piece *p, const struct slot *s, uint64_t external) {
  bool annotation = strncmp(s->row->name, "Optimizer", 9) == 0, node = s->row->depth < 2 && p->phase == BACKWARD;
  struct where w = thread_of(k, p);
  kineto_span(k, annotation ? "user_annotation" : "cpu_op", s->row->name, w, (struct span){s->start, s->end});
  op_ids(k, external);
  if (node || (p->phase == FORWARD && s->row->depth == 0)) {
    kineto_key(k, ", ", "Sequence number");
    put_u(p->sequence);
    kineto_key(k, ", ", "Fwd thread id");
    put(node ? "1" : "0");
  }
  kineto_key(k, ", ", "Ev Idx");
  put_u(k->ev_idx++);
  kineto_close(k);
  if (p->phase == FORWARD && s->row->depth == 0) kineto_flow(k, 's', "fwdbwd", p->sequence + 1, w, s->start);
  if (p->phase == BACKWARD && s == p->slots + 1) kineto_flow(k, 'f', "fwdbwd", p->sequence + 1, w, s->start);
}

static void collective_args(struct kineto *k, const struct piece *p) {
  kineto_key(k, ", ", "Process Group Name"), put("\"0\"");
  kineto_key(k, ", ", "Global rank stride"), put("1");
  kineto_key(k, ", ", "Out msg nelems"), put_i(kineto_elements(p));
  kineto_key(k, ", ", "Process Group Ranks"), put("\""), kineto_ranks(k), put("\"");
  kineto_key(k, ", ", "Group size"), put_i(k->o->ranks);
  kineto_key(k, ", ", "Global rank start"), put("0");
  kineto_key(k, ", ", "Ev Idx"), put_u(k->ev_idx++);
  kineto_key(k, ", ", "In msg nelems"), put_i(kineto_elements(p));
  kineto_key(k, ", ", "In split size"), put("\"[]\"");
  kineto_key(k, ", ", "Out split size"), put("\"[]\"");
  kineto_key(k, ", ", "dtype"), put("\"Float\"");
  kineto_key(k, ", ", "Process Group Description"), put("\"default_pg\"");
  kineto_key(k, ", ", "Collective name"), put("\"allreduce\"");
}

static void collective(struct kineto *k, const struct piece *p) {
  kineto_span(k, "cpu_op", "record_param_comms", k->backward, (struct span){p->start + 4000, p->end - 6000});
  op_ids(k, k->external++);
  collective_args(k, p);
  kineto_close(k);
  kineto_span(k, "user_annotation", "nccl:all_reduce", k->backward, (struct span){p->start + 9000, p->end - 9000});
  op_ids(k, k->external++);
  kineto_key(k, ", ", "Ev Idx"), put_u(k->ev_idx++);
  kineto_close(k);
}

static void ops(struct kineto *k, const struct piece *p, bool wanted) {
  if (wanted && p->phase == COMMUNICATION) {
    collective(k, p);
    return;
  }
  for (unsigned i = 0; wanted && i < p->n; i++) op(k, p, &p->slots[i], k->external + i);
  k->external += p->phase == COMMUNICATION ? 2 : p->n;
}

void kineto_backward(void *self, const struct piece *p) { ops(self, p, on_backward_thread(p)); }
void kineto_forward(void *self, const struct piece *p) { ops(self, p, !on_backward_thread(p)); }

static void annotation(struct kineto *k, const char *name, int64_t start, int64_t end) {
  kineto_span(k, "user_annotation", name, k->main, (struct span){start, end});
  op_ids(k, 1000000 + k->ev_idx);
  kineto_key(k, ", ", "Ev Idx"), put_u(k->ev_idx++);
  kineto_close(k);
}

void kineto_step_annotations(struct kineto *k, const struct plan *p) {
  char name[32];
  snprintf(name, sizeof name, "ProfilerStep#%d", p->step + 10);
  annotation(k, name, p->start, p->end);
  annotation(k, "DistributedDataParallel.forward", p->start + 40000, p->forward_end + 5000);
}

void kineto_allocations(void *self, const struct piece *p) {
  struct kineto *k = self;
  for (unsigned i = 0; i < p->n; i++) {
    const struct slot *s = &p->slots[i];
    int64_t bytes = 512 * (1 + (int64_t)(mix(p->hash, i) % 40000));
    uint64_t address = UINT64_C(0x7f3600000000) + (mix(p->hash, i) >> 40 << 9);
    if (!s->row->kernel) continue;
    kineto_memory(k, thread_of(k, p), s->start + 300, bytes, address);
    kineto_memory(k, thread_of(k, p), s->end - 200, -bytes, address);
  }
}

/* ---- Python frames ------------------------------------------------------------------------------------------------------ */

static uint64_t frame(struct kineto *k, const char *name, struct span s, uint64_t parent) {
  bool module = strncmp(name, "nn.Module", 9) == 0;
  uint64_t id = ++k->python_id;
  kineto_span(k, "python_function", name, k->main, s);
  if (parent) kineto_key(k, "", "Python parent id"), put_u(parent);
  kineto_key(k, parent ? ", " : "", "Python id"), put_u(id);
  if (module) kineto_key(k, ", ", "Python module id"), put_u(mix(1, (uint64_t)name[strlen(name) - 1]) % 40);
  kineto_key(k, ", ", "Ev Idx"), put_u(k->ev_idx++);
  kineto_close(k);
  return id;
}

void kineto_root_frames(struct kineto *k) {
  struct span all = {300000, k->end + 500000};
  uint64_t id = frame(k, "<string>(1): <module>", all, 0);
  id = frame(k, "train.py(112): main", (struct span){all.start + 900, all.end - 900}, id);
  frame(k, "train.py(71): run", (struct span){all.start + 2100, all.end - 1700}, id);
}

void kineto_step_frames(struct kineto *k, const struct plan *p) {
  uint64_t id = frame(k, "train.py(54): step", (struct span){p->start - 4000, p->end + 4000}, 3);
  frame(k, "nn.Module: DistributedDataParallel_0", (struct span){p->start + 30000, p->forward_end + 9000}, id);
  frame(k, "torch/_tensor.py(581): backward", (struct span){p->forward_end + 12000, p->backward_end + 3000}, id);
}

void kineto_frames(void *self, const struct piece *p) {
  struct kineto *k = self;
  char name[96];
  uint64_t id;
  if (p->phase != FORWARD) return;
  snprintf(name, sizeof name, "nn.Module: %s_%d", groups[p->group].module, p->layer);
  id = frame(k, name, (struct span){p->start + 20, p->end - 20}, k->python_id);
  id = frame(k, groups[p->group].frame, (struct span){p->start + 60, p->end - 60}, id);
  snprintf(name, sizeof name, "<built-in function %s>", p->slots[0].row->name + 6);
  frame(k, name, (struct span){p->slots[0].start - 60, p->slots[0].end + 40}, id);
}
