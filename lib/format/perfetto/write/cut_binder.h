/* cut_binder.h - finds Binder calls (Android's calls between processes) that are under way where a range starts. */
#ifndef FORMAT_PERFETTO_WRITE_CUT_BINDER_H
#define FORMAT_PERFETTO_WRITE_CUT_BINDER_H

#include "base/keyed.h"
#include "base/map.h"
#include "format/pb.h"

struct cut_binder_step;

/* The events of calls before the range. */
struct cut_binder {
  struct mem *mem;
  struct cut_binder_step *steps;
  struct keyed *times;
  uint32_t n, cap, cap_times;
};

/* Adds an event before the range. `at`: its address, `content`: its message (LASTING_CALL), `tid`: the thread that wrote it. */
void cut_binder_add(struct cut_binder *b, const uint8_t *at, const struct pb_field *content, uint32_t machine, uint64_t tid,
                    int64_t ns);

/* Adds the addresses of the events that importers need to show calls in the range to `open`, and frees the events. */
void cut_binder_find(struct cut_binder *b, struct map *open);

#endif
