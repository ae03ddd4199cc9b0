/* kind.h - classifies events in the terms of accelerator traces: kernel, memcpy, collective, ...
 *
 * The sources are categories, the processes and threads of each kind of device (accelerator.c), and, for JAX and TensorFlow, the
 * names of planes and lines and the stats of ops and steps (kind_xla.c). An event may have several kinds. */
#ifndef GRAPH_KIND_H
#define GRAPH_KIND_H

#include "trace.h"

enum kind {
  KIND_SPAN = 1, KIND_INSTANT = 2, KIND_COUNTER = 4, KIND_ASYNC = 8,
  KIND_KERNEL = 16, KIND_MEMCPY = 32, KIND_MEMSET = 64, KIND_COLLECTIVE = 128,
  KIND_RUNTIME = 256, KIND_PYTHON = 512, KIND_STEP = 1024, KIND_ANNOTATION = 2048,
  KIND_OP = 4096, KIND_MODULE = 8192, KIND_TRANSFER = 16384, KIND_DEVICE = 32768, KIND_HOST = 65536,
  KIND_SAMPLE = 1 << 19,
  /* Used for classes only, never for events: */
  KIND_WAIT = 1 << 17, /* waits in a device queue, which are not work; for a role: copies on the track are tasks of collectives */
  KIND_BARE = 1 << 18, /* no category, so the track decides the kind */
  KIND_MOVE = 1 << 20, /* an instruction of HLO with this name moves data; for a track: all its spans move data */
  KIND_REPEAT = 1 << 21, /* repeats what other events record, such as a host's annotation; also the role of such a track */
  KIND_TALLY = 1 << 22, /* with REPEAT: counters of other events, at arbitrary times */
  KIND_EITHER = 1 << 23 /* with OP and BARE: operators, which are device work if they are on a device's queue */
};

struct kind_word {
  const char *word;
  unsigned kind;
};
extern const struct kind_word kind_words[]; /* terminated by NULL */

/* Kinds by class, by track and by shape of args, computed once. The kinds of an event are the union of all three. */
struct kinds {
  struct mem *mem;
  const struct tk_trace *t;
  uint32_t *of_class, *of_track, *of_shape;
  uint32_t *roles; /* by track: kinds of the track's spans without a category (accelerator.h) */
  bool by_shape;   /* true if any shape implies a kind */
  uint32_t *of_event; /* by event: its kinds; NULL = computed when asked for */
};

bool kinds_init(struct kinds *k, const struct tk_trace *t, struct mem *mem);
void kinds_free(struct kinds *k);
/* Computes the kinds of all events now: cheaper for callers that need them more than twice. Events must not be added or changed
 * afterwards. Returns false if memory runs out. */
bool kinds_keep(struct kinds *k);
unsigned kinds_of(const struct kinds *k, const struct tk_event *e);
/* True if the event is on the stream that its arg "stream" names. False for host calls, to which Inductor adds this arg,
 * too. */
bool kinds_on_stream(const struct kinds *k, const struct tk_event *e);
/* True for a track that shows the work of other tracks again. */
static inline bool kinds_repeats(const struct kinds *k, tk_id track) { return (k->of_track[track] | k->roles[track]) & KIND_REPEAT; }
/* Counts the events of each kind, in the order of kind_words. */
void kinds_count(const struct kinds *k, uint64_t *counts);

#endif
