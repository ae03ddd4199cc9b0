/* replicas.h - the replica groups of an HLO collective, as its text says them.
 *
 *     replica_groups={{0,1},{2,3}}          each group
 *     replica_groups=[4,2]<=[2,4]T(1,0)     0..7 as a 2 x 4 array, transposed, cut into 4 groups of 2
 *     replica_groups=mesh['a'=2,'b'=4] {'a'}  those that differ in 'a' alone are a group, as by [4,2]<=[2,4]T(1,0)
 *     replica_groups={}                     all are one */
#ifndef ALIGN_REPLICAS_H
#define ALIGN_REPLICAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLICA_DIMS = 8 };

struct replicas {
  uint32_t n_groups;     /* 1 also where no group is written out */
  const char *list;      /* of the explicit form: behind the first brace; NULL = the other form */
  uint64_t group_size;   /* of the other forms */
  uint32_t n_dims;
  uint64_t dims[REPLICA_DIMS];
  uint32_t order[REPLICA_DIMS]; /* of the dimensions after the transposition */
};

/* From text that begins with the groups.  False: these are none. */
bool replicas_parse(struct replicas *r, const char *text);
/* The group that holds `id`; false: none does. */
bool replicas_group(const struct replicas *r, uint64_t id, uint64_t *group);

#endif
