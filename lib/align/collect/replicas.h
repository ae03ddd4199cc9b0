/* replicas.h - parses the replica groups of an HLO collective.
 *
 *     replica_groups={{0,1},{2,3}} lists each group
 *     replica_groups=[4,2]<=[2,4]T(1,0)     0..7 as a 2 x 4 array, transposed, cut into 4 groups of 2
 *     replica_groups=mesh['a'=2,'b'=4] {'a'}  devices that differ only in 'a' form a group, as in [4,2]<=[2,4]T(1,0)
 *     replica_groups={}                     one group of all */
#ifndef ALIGN_COLLECT_REPLICAS_H
#define ALIGN_COLLECT_REPLICAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLICA_DIMS = 8 };

struct replicas {
  uint32_t n_groups;     /* number of groups; 1 if all replicas form one group */
  const char *list;      /* for listed groups: text after the first brace; NULL = groups in another form */
  uint64_t group_size;   /* number of replicas in each group; for groups that are not written as a list */
  uint32_t n_dims;
  uint64_t dims[REPLICA_DIMS];
  uint32_t order[REPLICA_DIMS]; /* order of the dimensions after the transposition */
};

/* Parses text that begins with the groups. Returns false if it does not begin with valid groups. */
bool replicas_parse(struct replicas *r, const char *text);
/* Finds the group that contains `id`; returns false if none does. */
bool replicas_group(const struct replicas *r, uint64_t id, uint64_t *group);

#endif
