/* frames.h - splits a Trace into packets, even if it is damaged.
 *
 *     0x0a   length   packet   0x0a   length   packet   ...
 *
 * A length is trusted if another frame begins at the end of the packet, if the file ends there, or if the packet can be parsed exactly
 * up to there. Otherwise the next packet is searched for: a frame whose packet has known fields of the right types, followed by more
 * such frames. The bytes before this frame are the contents of the damaged one. A search ends after 16 MiB, and all searches of a file
 * together end after 256 MiB of candidates, so that malicious input takes no more time than its size justifies. The packets after that
 * point are lost. */
#ifndef FORMAT_PERFETTO_READ_FRAMES_H
#define FORMAT_PERFETTO_READ_FRAMES_H

#include "format/pb.h"

struct frames {
  struct pb_in s;
  size_t cost; /* bytes of candidates examined so far */
};

struct frame {
  const uint8_t *p; /* the packet; valid until the next call */
  size_t n;
  uint64_t offset;  /* offset of the packet in the input */
  bool found;       /* true if the stated length was wrong, and the packet ends where the next packet was found */
  bool other;       /* true for a field of the Trace message that is not a packet; p then includes its tag */
};

enum frame_status {
  FRAME,
  FRAMES_END,
  FRAMES_CUT,  /* the input ends inside a packet */
  FRAMES_LOST, /* no other sequence of packets was found */
  FRAMES_FAIL  /* an error, which f->s.err describes */
};

enum frame_status frames_next(struct frames *f, struct frame *out);
/* Called if the packet returned last cannot be parsed to its end. Ends it where the next packet is found; the next packet may start
 * inside it. */
void frames_reconsider(struct frames *f, struct frame *out);

#endif
