/* frames.h - splits a Trace into packets, even if it is damaged.
 *
 *     0x0a   length   packet   0x0a   length   packet   ...
 *
 * A length is trusted if the next frame begins at its end, if the file ends there, or if the packet can be parsed up to there.
 * Otherwise the next packet is searched for: a frame whose packet has known fields of the right types, followed by more such
 * frames. The bytes before it are the contents of the damaged frame. One search ends after 16 MiB, and all searches of a file
 * end after 256 MiB of candidates, so that hostile input costs no more than its size; everything after that is lost. */
#ifndef FORMAT_PERFETTO_READ_FRAMES_H
#define FORMAT_PERFETTO_READ_FRAMES_H

#include "format/pb.h"

struct frames {
  struct pb_in s;
  size_t cost; /* bytes of candidates examined */
};

struct frame {
  const uint8_t *p; /* the packet; valid until the next call */
  size_t n;
  uint64_t offset;  /* of the packet in the input */
  bool found;       /* ends where the next packet was found */
  bool other;       /* a field of the trace that is not a packet, including its tag */
};

enum frame_status {
  FRAME,
  FRAMES_END,
  FRAMES_CUT,  /* the input ends inside a packet */
  FRAMES_LOST, /* no sequence of packets follows */
  FRAMES_FAIL  /* the error is in f->s.err */
};

enum frame_status frames_next(struct frames *f, struct frame *out);
/* To be called if the packet returned last cannot be parsed to its end: ends it where the next packet is found, possibly inside
 * it. */
void frames_reconsider(struct frames *f, struct frame *out);

#endif
