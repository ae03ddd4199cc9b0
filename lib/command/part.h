/* part.h - a part: what one rank puts into a merged trace, byte for byte, with what has to be known of it.
 *
 *     | bytes of the output | message Part (proto/plan.proto) | its length, its CRC, "tracekit" |
 *
 * What is known of a rank is known when it is written, so it stands at the end.  In gzip the bytes are deflate without head or end that
 * begin and end at a break (io/out.h). */
#ifndef COMMAND_PART_H
#define COMMAND_PART_H

#include <stdio.h>

#include "plan.pb-c.h"
#include "tasks.h"

enum { PART_SCHEMA = 1 };

struct saver;

/* Ends the part of this rank, which has been written: what stands behind its bytes. */
bool part_end(struct saver *s, struct merger *m, const struct tasks *t, uint32_t rank);

/* A part that was written. */
struct part {
  FILE *f;
  struct mem *mem;
  Plan__Part *is;
};

/* False, with err set, if it is no part, or not whole. */
bool part_open(struct part *p, const char *path, struct mem *mem, struct tk_err *err);
/* Puts its bytes into the output, which has taken what the part left behind. */
bool part_copy(struct part *p, struct out *to, struct tk_err *err);
void part_close(struct part *p);

#endif
