/* extra.c - reads counter samples that accompany an event (extra_counter_values).
 *
 * They become samples of their counters. Chrome measures the CPU time and the instructions of each thread this way, and trace_processor
 * shows both as columns of the slice. So these two values also become args of the thread's event. The writer finds the samples again by
 * these args and writes them into the event's packet (write/thread_times.c). */
#include "extra.h"

#include <string.h>

#include "counters.h"
#include "track.h"

static bool has_name_of(const struct perfetto *r, const struct node *n, const char *name) {
  const struct intern_str *s = trace_str(r->t, n->name);
  return n->name && s->len == strlen(name) && memcmp(s->bytes, name, s->len) == 0;
}

/* Stores the value if it is the time or the instructions of the thread to which the event belongs. */
static void note_thread(const struct perfetto *r, struct track_event *e, const struct node *counter, const struct tk_arg *value) {
  const struct node *of = &r->nodes[e->node];
  const bool is_own = counter->has_parent && counter->parent_uuid == of->uuid && counter->machine == of->machine;
  if (!is_own || value->type != TK_ARG_INT) return;
  if (has_name_of(r, counter, THREAD_TIME_COUNTER)) e->has_thread_ns = true, e->thread_ns = value->i;
  else if (has_name_of(r, counter, INSTRUCTIONS_COUNTER)) e->has_instructions = true, e->instructions = value->i;
}

static void compute(struct perfetto *r, struct sequence *q, uint32_t machine, struct track_event *e, uint64_t uuid,
                    struct counter_sample *sample) {
  struct extra_counters *x = e->extra;
  sample->node = track_node_of_uuid(r, q, machine, uuid);
  if (!sample->node) return;
  struct extra_value *v = &x->found[x->n_found++];
  *v = (struct extra_value){sample->node, counters_value(r, sample)};
  note_thread(r, e, &r->nodes[v->node], &v->value);
}

void extra_compute(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e,
                   const struct counter_sample *site) {
  struct extra_counters *x = e->extra;
  const struct uuid_list *ints = x->uuids.n ? &x->uuids : &q->extra, *doubles = x->double_uuids.n ? &x->double_uuids : &q->extra_double;
  struct counter_sample sample = *site;
  x->n_found = 0;
  for (uint32_t i = 0; i < x->n_values && i < ints->n; i++) {
    sample.value = (struct tk_arg){.type = TK_ARG_INT, .i = x->values[i]};
    compute(r, q, k->machine, e, ints->uuid[i], &sample);
  }
  for (uint32_t i = 0; i < x->n_doubles && i < doubles->n; i++) {
    sample.value = (struct tk_arg){.type = TK_ARG_DOUBLE, .d = x->doubles[i]};
    compute(r, q, k->machine, e, doubles->uuid[i], &sample);
  }
}

void extra_add(struct perfetto *r, const struct track_event *e, struct counter_sample site) {
  for (uint32_t i = 0; i < e->extra->n_found; i++) {
    site.node = e->extra->found[i].node;
    counters_add(r, &site, &e->extra->found[i].value);
  }
}
