/* kineto.h - shared by the parts of the Kineto dialect: kineto.c prints; kineto_cpu.c and kineto_gpu.c determine the events. */
#ifndef GEN_KINETO_H
#define GEN_KINETO_H

#include "gen.h"

enum { COMPUTE_STREAM = 7, NCCL_STREAM = 40 };

struct where {
  int64_t pid, tid;
};

struct span {
  int64_t start, end;
};

struct kineto {
  const struct options *o;
  struct where main, backward;
  int device;
  bool any;             /* an event was printed */
  uint64_t correlation; /* number of runtime calls so far; every walk counts the same calls */
  uint64_t external;    /* number of ops so far; every walk counts the same ops */
  uint64_t ev_idx, python_id;
  uint64_t spans;
  int64_t allocated;
  int64_t end;          /* number of the last step seen */
  int64_t gpu_first, gpu_last, forward_last, optimizer_first;
};

void kineto_span(struct kineto *k, const char *cat, const char *name, struct where w, struct span s);
void kineto_key(struct kineto *k, const char *before, const char *key);
void kineto_close(struct kineto *k);
void kineto_flow(struct kineto *k, char phase, const char *cat, uint64_t id, struct where w, int64_t at);
void kineto_memory(struct kineto *k, struct where w, int64_t at, int64_t bytes, uint64_t address);
void kineto_ranks(const struct kineto *k);

/* Number of elements in the collective of a piece. */
int64_t kineto_elements(const struct piece *p);

void kineto_backward(void *self, const struct piece *p);
void kineto_forward(void *self, const struct piece *p);
void kineto_step_annotations(struct kineto *k, const struct plan *p);
void kineto_allocations(void *self, const struct piece *p);
void kineto_root_frames(struct kineto *k);
void kineto_frames(void *self, const struct piece *p);
void kineto_step_frames(struct kineto *k, const struct plan *p);
void kineto_gpu(void *self, const struct piece *p);
void kineto_gpu_marks(void *self, const struct piece *p);
void kineto_gpu_annotations(struct kineto *k, const struct plan *p);

#endif
