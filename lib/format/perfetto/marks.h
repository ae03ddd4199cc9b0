/* marks.h - pairs the events that may apply after their own time: texts of programs (atrace), the events of pairs.c, samples, and
 * switches of CPUs. The writer needs those that still apply at the start of a cut; the reader drops those that no longer apply. */
#ifndef FORMAT_PERFETTO_MARKS_H
#define FORMAT_PERFETTO_MARKS_H

#include "base/keyed.h"
#include "base/mem.h"
#include "head.h"
#include "pairs.h"

/* The begin and the end of a span have the same key, and so do all samples of a counter. MARK_BEGIN_ONCE: ignored while the span is
 * open. */
enum mark_kind { MARK_BEGIN, MARK_BEGIN_ONCE, MARK_END, MARK_SAMPLE };

struct mark {
  uint64_t key;
  const uint8_t *at; /* content of the event or of the packet; NULL = neither */
  /* Set by marks_pair: */
  uint32_t other; /* 1 + index of the next open begin, or of the other end of the span; 0 = none */
  uint8_t kind;   /* enum mark_kind */
  bool is_open;   /* it applies after all marks */
};

struct marks {
  struct mem *mem;
  struct mark *of;
  struct keyed *times, *spare;
  const struct keyed *sorted; /* after marks_pair: the time and index of each mark, in the order of time */
  uint32_t n, cap, cap_times;
};

/* An event of ftrace. */
struct mark_event {
  const uint8_t *at;
  struct pb_field content;
  uint64_t tid, cpu;
};
struct mark_event mark_event(const struct pb_field *event, uint64_t cpu);

/* Finds the mark of an event whose pair_lasting is LASTING_TEXT or LASTING_PAIR. Returns false if it has none. */
bool mark_of_event(const struct packet_head *h, const struct mark_event *event, struct mark *mark);
/* Returns the mark of a switch of a CPU, which applies until the next one. */
struct mark mark_of_switch(const struct packet_head *h, const uint8_t *at, uint64_t cpu);

enum { PACKET_MARKS = PAIR_KEYS + 1 }; /* maximum number of marks of a packet other than a bundle */
/* Finds the marks of a packet other than a bundle. Returns their number. */
uint32_t marks_of_packet(const struct packet_head *h, struct mark marks[PACKET_MARKS]);

/* `ns`: time of the mark, on the same clock for all. */
void marks_add(struct marks *m, struct mark mark, int64_t ns);
/* Pairs all marks in the order of their times. Returns false if memory runs out. */
bool marks_pair(struct marks *m);
void marks_free(struct marks *m);

#endif
