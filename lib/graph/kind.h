/* kind.h - what sort of thing an event is, in the words of people who read traces of accelerators: kernel, memcpy, collective, ...
 *
 * Told from what producers state: Kineto's categories, the names that CUPTI and XLA give.  An event may be of several kinds. */
#ifndef GRAPH_KIND_H
#define GRAPH_KIND_H

#include "trace.h"

enum kind {
  KIND_SPAN = 1, KIND_INSTANT = 2, KIND_COUNTER = 4, KIND_ASYNC = 8,
  KIND_KERNEL = 16, KIND_MEMCPY = 32, KIND_MEMSET = 64, KIND_COLLECTIVE = 128,
  KIND_RUNTIME = 256, KIND_PYTHON = 512, KIND_STEP = 1024, KIND_ANNOTATION = 2048
};

struct kind_word {
  const char *word;
  unsigned kind;
};
extern const struct kind_word kind_words[]; /* ended by NULL */

/* Kinds by class and by track, told once. */
struct kinds {
  struct mem *mem;
  const struct tk_trace *t;
  uint16_t *of_class;
  uint8_t *on_device; /* by track: it is a queue of an accelerator */
  tk_id n_classes, n_tracks;
};

bool kinds_init(struct kinds *k, const struct tk_trace *t, struct mem *mem);
void kinds_free(struct kinds *k);
unsigned kinds_of(const struct kinds *k, const struct tk_event *e);

#endif
