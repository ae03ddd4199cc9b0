/* sampled.h - writes the stack samples of a thread as sampled profiles of speedscope, one for each unit. */
#ifndef FORMAT_SPEEDSCOPE_SAMPLED_H
#define FORMAT_SPEEDSCOPE_SAMPLED_H

#include "graph/sink.h"
#include "io/out.h"

struct sampled {
  struct sink *sink;
  struct out *out;
  struct mem *mem;
  struct intern *frames;  /* frames of the file: a name, or SAMPLED_FRAME and the frame's JSON text; index in the file: id - 1 */
  uint32_t *frame_of;     /* by frame of the trace: id in `frames` */
  int64_t base_ns;        /* base of the written times */
  bool *any_profile;
  const struct buf *title;
};

/* First byte of the key of a frame with a source location; no UTF-8 text contains this byte. */
enum { SAMPLED_FRAME = 0xff };

/* Adds the frames of a trace. Returns false when memory runs out. */
bool sampled_begin(struct sampled *w, const struct tk_trace *t);
/* Writes the samples of a track. Returns false when memory runs out. */
bool sampled_write(struct sampled *w, const struct tk_trace *t, const struct tk_track *k);
void sampled_end(struct sampled *w);

#endif
