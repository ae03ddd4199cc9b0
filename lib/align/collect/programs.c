/* programs.c - finds collectives in the programs that an input embeds (programs.h).
 *
 * Programs are large and only needed for operations of XLA, so inputs without such operations are not searched. */
#include "programs.h"

#include <string.h>

#include "format/xplane/hlo.h"

static bool runs_xla(const struct tk_trace *t) {
  if (trace_text_id(t, "hlo_op")) return true; /* XLA may run ops on the host */
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind == TK_TRACK_PROCESS && !k->hidden && strncmp(tk_string(t, k->name, NULL), "/device:", 8) == 0) return true;
  }
  return false;
}

static uint64_t programs_hash_of(struct hlo_text text) { return hash_bytes(text.p ? text.p : (const uint8_t *)"", text.n); }

bool align_programs(const struct tk_trace *t, struct align_source *from, struct arena *arena) {
  struct hlo_collectives hlo;
  if (!runs_xla(t)) return true;
  bool ok = xplane_hlo(&hlo, t, arena);
  struct align_op *ops = ok ? arena_alloc(arena, ((size_t)hlo.n + 1) * sizeof *ops) : NULL;
  for (uint32_t i = 0; ops && i < hlo.n; i++) {
    const struct hlo_collective *c = &hlo.v[i];
    ops[i] = (struct align_op){.module = programs_hash_of(c->module), .program = c->program, .op = programs_hash_of(c->op),
                               .opcode = c->opcode,
                               .groups = c->groups, .global = c->global};
  }
  from->ops = ops;
  from->n_ops = ops ? hlo.n : 0;
  xplane_hlo_free(&hlo, arena->mem);
  return ops != NULL;
}
