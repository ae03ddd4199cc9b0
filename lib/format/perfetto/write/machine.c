/* machine.c - writes the machines of tracks (TracePacket.machine_id); each has a separate sequence of packets. */
#include "machine.h"
#include "format/format.h"
#include "format/perfetto/perfetto.h"
#include "format/perfetto/passthrough.h"
#include "writer.h"
#include "passthrough.h"
#include "segments.h"

static uint32_t append_machine(struct perfetto_sink *s, struct machine_of_writer m) {
  if (!mem_grow(&s->mem, (void **)&s->machines, &s->cap_machines, (uint64_t)s->n_machines + 2, sizeof m)) return 0;
  map_put(&s->machine_ids, m.id, 1);
  s->machines[++s->n_machines] = m;
  return s->n_machines;
}

/* Adds the machines of the file from which this graph was read, unless an operation may have renamed machines. */
static void add_passthrough_machines(struct perfetto_sink *s) {
  struct format_machine m;
  if (s->t->edits & TK_EDIT_RENAMED) return;
  for (uint32_t i = 0; perfetto_machine(s->t, i, &m); i++) {
    const uint32_t id = s->sink.graphs > 1 ? passthrough_machine_id(s, i, m.id) : m.id;
    map_put(&s->machine_of, m.name, append_machine(s, (struct machine_of_writer){id, s->has_remote_clocks ? m.ahead_ns : 0, false}));
  }
}

bool machine_write_all(struct perfetto_sink *s) {
  map_init(&s->machine_of, &s->mem);
  s->machine_name = UINT32_MAX;
  s->n_machines = 0;
  if (!mem_grow(&s->mem, (void **)&s->machines, &s->cap_machines, 1, sizeof *s->machines)) return false;
  s->machines[0] = (struct machine_of_writer){0};
  add_passthrough_machines(s);
  return true;
}

/* Adds a machine without an id. It gets the lowest free id, so that the first machine needs no id in the file. */
static uint32_t add_machine(struct perfetto_sink *s) {
  while (map_get(&s->machine_ids, s->next_machine)) s->next_machine += s->step;
  return append_machine(s, (struct machine_of_writer){.id = s->next_machine});
}

bool machine_of_writer(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  tk_id name = s->t->tracks[k->kind == TK_TRACK_PROCESS ? track : k->parent].machine;
  if (name == s->machine_name) return false;
  segments_flush(s);
  uint32_t *at = name ? map_put(&s->machine_of, name, 0) : NULL;
  if (at && !*at) *at = add_machine(s);
  struct machine_of_writer *m = &s->machines[at ? *at : 0];
  bool fresh = !m->described;
  m->described = true;
  s->machine_name = name;
  if (s->w.started) s->w.sequence = passthrough_sequence(s);
  writer_switch(&s->w, m->id, num_add(num_sub(s->t->origin_ns, s->zero_ns), m->ahead_ns));
  return fresh;
}
