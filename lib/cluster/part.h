/* part.h - a part: the bytes that one rank contributes to a merged trace, with the data needed to join them.
 *
 *     | bytes of the output | message Part (proto/plan.proto) | its length, its CRC, "tracekit" |
 *
 * The data is at the end because it is known only after the rank is written. With gzip, the bytes are deflate data without
 * header and trailer, which begin and end at a break (io/out.h). */
#ifndef CLUSTER_PART_H
#define CLUSTER_PART_H

#include <stdio.h>

#include "plan.pb-c.h"
#include "tasks.h"

enum { PART_SCHEMA = 1 };

struct saver;

/* Ends the part of this rank: appends everything after the bytes of the output. */
bool part_end(struct saver *s, struct merger *m, const struct tasks *t, uint32_t rank);

/* A part that is being read. */
struct part {
  FILE *f;
  struct mem *mem;
  Plan__Part *is;
};

/* Opens a part. Returns false with err set if the file is not a part, or is incomplete. */
bool part_open(struct part *p, const char *path, struct mem *mem, struct tk_err *err);
/* Reads all bytes of the part and checks their CRC. Returns false with err if it is wrong. */
bool part_verify(struct part *p, struct tk_err *err);
/* Copies the bytes of the part to the output; called after save_take. */
bool part_copy(struct part *p, struct out *to, struct tk_err *err);
void part_close(struct part *p);

#endif
