/* frames.h - a Trace as the packets that it consists of, also where it is damaged.
 *
 *     0x0a   length   packet   0x0a   length   packet   ...
 *
 * A length is believed if the next frame begins where it ends, or the file does, or the packet itself can be read to that end.  Where
 * none of these is so, the next packet is looked for: a frame whose packet has known fields of the right types, and so have those
 * behind it.  What lies before it is what the damaged frame held.  The search ends after 16 MiB, and all searches of a file after
 * 256 MiB of candidates, so that hostile input costs no more than its size: then all that follows is lost. */
#ifndef FORMAT_PERFETTO_FRAMES_H
#define FORMAT_PERFETTO_FRAMES_H

#include "format/pb.h"

struct frames {
  struct pb_in s;
  size_t cost; /* bytes of candidates that were looked at */
};

struct frame {
  const uint8_t *p; /* the packet, until the next call */
  size_t n;
  uint64_t offset;  /* of the packet in its input */
  bool found;       /* its end is where the next packet was found */
  bool other;       /* a field of the trace that is no packet, with its tag */
};

enum frame_status {
  FRAME,
  FRAMES_END,
  FRAMES_CUT,  /* the input ends in a packet */
  FRAMES_LOST, /* what follows is no sequence of packets */
  FRAMES_FAIL  /* f->s.err says why */
};

enum frame_status frames_next(struct frames *f, struct frame *out);
/* The packet that was given out last cannot be read to its end: it ends where the next one is found, also inside of it. */
void frames_reconsider(struct frames *f, struct frame *out);

/* Is there a sequence of packets at p?  `last`: the input ends behind these bytes.  Adds to *cost what was looked at (detect.c). */
bool perfetto_frames_at(const uint8_t *p, size_t n, bool last, size_t *cost);
/* Can it be read as a packet, with so many fields that are known? */
bool perfetto_is_packet(const uint8_t *p, size_t n, unsigned known);

#endif
