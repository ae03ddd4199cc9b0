/* phase_names.h - phases of a step (prefill, decode, forward, backward, optimizer, ...) recognised by the names of spans;
 * phase_names.c has one row per name. */
#ifndef GRAPH_PHASE_NAMES_H
#define GRAPH_PHASE_NAMES_H

#include <stdint.h>

enum phase {
  PHASE_NONE, PHASE_PREFILL, PHASE_DECODE, PHASE_MIXED, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_DATALOADER,
  PHASE_COMMUNICATION, PHASE_CHECKPOINT, PHASE_COMPILE, PHASES
};

/* Returns the name of a phase; NULL for PHASE_NONE. */
const char *phase_word(uint8_t phase);

/* Returns the phase that a span's name and category imply. */
uint8_t phase_of_name(const char *name, const char *cat);
/* Returns the phase implied by the name of a compiled program: "jit_train_step", "jit_prefill(17)". */
uint8_t phase_of_program(const char *name);
/* Returns the phase implied by the scopes of an op: "jit(f)/transpose(jvp(Dense))/dot_general". */
uint8_t phase_of_scopes(const char *path);

/* Returns the phase of a span whose name implies `inner` and which is inside a span of the phase `outer`. */
uint8_t phase_within(uint8_t outer, uint8_t inner);

#endif
