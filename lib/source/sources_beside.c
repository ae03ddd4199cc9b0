/* sources_beside.c - see sources_beside.h. */
#include "sources_beside.h"

#include <string.h>

#include "format/format.h"
#include "sources_impl.h"
#include "sources_join.h"

struct beside {
  struct tk_input input;
  struct chosen chosen;
  struct beside *next;
};

static const struct source_entry *entry_of(const struct tk_sources *s, size_t i) {
  const uint32_t entry = s->impl->chosen[i].entry;
  return entry == UINT32_MAX || !s->inputs[i].best ? NULL : &s->impl->source.entries[entry];
}

static bool is_recording(const struct tk_sources *s, size_t i) {
  const struct source_entry *e = entry_of(s, i);
  return e && e->look == LOOK_TRACE && !s->impl->chosen[i].joined;
}

/* Returns the rank that the input states, in its content or by its own name; -1 = none. */
static int64_t stated_rank(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  const struct source_entry *e = entry_of(s, i);
  if (e && e->rank >= 0 && !c->parts) return e->rank;
  return c->rank_note ? -1 : s->inputs[i].rank; /* a note: the rank is a guess from the names of all inputs */
}

static size_t place_of_format(const char *name) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    if (strcmp(f->info.name, name) == 0) return i;
  return SIZE_MAX;
}

/* Without the option `join`, streams and addresses are not opened only to compare formats. */
static bool may_look(const struct tk_sources *s, size_t i) {
  const struct source_entry *e = entry_of(s, i);
  return s->impl->opt.join || (!e->once && !e->remote);
}

static bool look_at_all(struct tk_sources *s, struct tk_err *err) {
  for (size_t i = 0; i < s->n; i++)
    if (entry_of(s, i) && may_look(s, i) && !source_look(&s->impl->source, s->impl->chosen[i].entry, err)) return false;
  return true;
}

bool sources_have_formats(struct tk_sources *s, bool *several, struct tk_err *err) {
  const char *first = NULL;
  *several = false;
  if (!look_at_all(s, err)) return false;
  for (size_t i = 0; i < s->n; i++) {
    if (!is_recording(s, i)) continue;
    const char *format = entry_of(s, i)->format;
    *several = *several || (first && strcmp(first, format) != 0);
    first = format;
  }
  return true;
}

/* ---- finding ---- */

/* Returns the input of the rank whose format comes first in the table; SIZE_MAX if the rank has fewer than two inputs.
 * `one`: all inputs belong to one rank. *twice becomes an input with the format of an earlier input of the rank. */
static size_t main_recording(const struct tk_sources *s, size_t of, bool one, size_t *twice) {
  size_t best = SIZE_MAX, n = 0;
  uint32_t seen = 0;
  *twice = SIZE_MAX;
  for (size_t i = 0; i < s->n; i++) {
    if (!is_recording(s, i) || (!one && stated_rank(s, i) != stated_rank(s, of))) continue;
    const size_t place = place_of_format(entry_of(s, i)->format);
    if (seen & 1u << place) *twice = i;
    seen |= 1u << place;
    if (best == SIZE_MAX || place < place_of_format(entry_of(s, best)->format)) best = i;
    n++;
  }
  return n < 2 ? SIZE_MAX : best;
}

/* True if the names imply several formats, so that it is worth inspecting the inputs. */
static bool may_differ(const struct tk_sources *s) {
  const struct format *first = NULL;
  for (size_t i = 0; i < s->n; i++) {
    const struct format *f = format_by_path(s->inputs[i].name);
    if (f && first && f != first) return true;
    if (f) first = f;
  }
  return false;
}

bool sources_find_recordings(struct tk_sources *s, size_t *main_of, struct tk_err *err) {
  size_t twice;
  bool several;
  for (size_t i = 0; i < s->n; i++) main_of[i] = i;
  if (s->n < 2 || s->impl->opt.join || s->impl->opt.apart || s->impl->opt.all_files || !may_differ(s)) return true;
  if (!sources_have_formats(s, &several, err)) return false;
  for (size_t i = 0; several && i < s->n; i++) {
    if (!is_recording(s, i) || stated_rank(s, i) < 0) continue;
    s->inputs[i].format = entry_of(s, i)->format;
    const size_t best = main_recording(s, i, false, &twice);
    if (best != SIZE_MAX && twice == SIZE_MAX) main_of[i] = best;
  }
  return true;
}

/* ---- joining ---- */

bool sources_put_beside(struct tk_sources *s, size_t main, size_t other) {
  struct chosen *to = &s->impl->chosen[main], *from = &s->impl->chosen[other];
  struct beside *b = arena_alloc(&s->impl->source.rundir.text, sizeof *b), **last = &to->beside;
  if (!b) return false;
  *b = (struct beside){.input = s->inputs[other], .chosen = *from};
  while (*last && place_of_format((*last)->input.format) < place_of_format(b->input.format)) last = &(*last)->next;
  b->next = *last;
  *last = b;
  from->joined = true;
  if (s->inputs[main].rank >= 0 || s->inputs[other].rank < 0) return true;
  s->inputs[main].rank = s->inputs[other].rank;
  to->rank_from = from->rank_from ? from->rank_from : "file name";
  to->rank_note = from->rank_note;
  return true;
}

/* True if the inputs state at most one rank. */
static bool have_one_rank(const struct tk_sources *s) {
  int64_t rank = -1;
  for (size_t i = 0; i < s->n; i++) {
    const int64_t own = is_recording(s, i) ? stated_rank(s, i) : -1;
    if (own >= 0 && rank >= 0 && own != rank) return false;
    if (own >= 0) rank = own;
  }
  return true;
}

static bool refuse_unknown(const struct tk_sources *s, size_t i, struct tk_err *err) {
  return err_set(err, TK_EUSAGE, "%s: cannot be joined: it states no rank, and the other inputs belong to several ranks; put the "
                                 "rank into its name, such as rank0", s->inputs[i].name);
}

bool sources_join_recordings(struct tk_sources *s, struct tk_err *err) {
  const bool one = have_one_rank(s);
  bool several, ok = true;
  size_t twice;
  if (!sources_have_formats(s, &several, err)) return false;
  if (!several || s->impl->opt.all_files || s->impl->opt.apart) return true;
  for (size_t i = 0; i < s->n && ok; i++) {
    if (!is_recording(s, i)) continue;
    s->inputs[i].format = entry_of(s, i)->format;
    if (!one && stated_rank(s, i) < 0) return refuse_unknown(s, i, err);
    const size_t main = main_recording(s, i, one, &twice);
    if (main == SIZE_MAX) continue;
    if (twice != SIZE_MAX)
      return err_set(err, TK_EUSAGE, "%s: cannot be joined: its rank has another input of the same format; join the pieces of one "
                                     "format first", s->inputs[twice].name);
    s->inputs[main].format = entry_of(s, main)->format;
    for (size_t k = 0; k < s->n && ok; k++)
      if (k != main && is_recording(s, k) && (one || stated_rank(s, k) == stated_rank(s, i))) {
        s->inputs[k].format = entry_of(s, k)->format;
        ok = sources_put_beside(s, main, k);
      }
  }
  if (ok) sources_drop_joined(s);
  return ok || err_set(err, TK_ELIMIT, "out of memory");
}

/* ---- reading ---- */

static const struct beside *nth_beside(const struct tk_sources *s, size_t i, size_t nth) {
  const struct beside *b = s->impl->chosen[i].beside;
  while (b && nth--) b = b->next;
  return b;
}

bool sources_recording(const struct tk_sources *s, size_t i, size_t nth, struct source_view *v) {
  const struct beside *b = nth_beside(s, i, nth);
  if (!b) return false;
  const struct chosen *c = &b->chosen;
  *v = (struct source_view){.entry = c->entry, .name = b->input.name, .host = b->input.host, .run = b->input.run,
                            .rank = b->input.rank, .rank_from = c->rank_from, .rank_note = c->rank_note,
                            .parts = c->parts, .part = c->part};
  return true;
}

const char *sources_recording_path(const struct tk_sources *s, size_t i, size_t nth) {
  const struct beside *b = nth_beside(s, i, nth);
  return b ? s->impl->source.entries[b->chosen.entry].path : NULL;
}

bool sources_recording_is_file(const struct tk_sources *s, size_t i) {
  const struct source *src = &s->impl->source;
  for (const struct beside *b = s->impl->chosen[i].beside; b; b = b->next) {
    const struct source_entry *e = &src->entries[b->chosen.entry];
    if (e->once || src->origins[e->origin].kind == ORIGIN_ARCHIVE) return false;
  }
  return true;
}

bool sources_keep_recordings(struct tk_sources *s, size_t i, struct tk_err *err) {
  for (const struct beside *b = s->impl->chosen[i].beside; b; b = b->next)
    if (!source_keep(&s->impl->source, b->chosen.entry, err)) return false;
  return true;
}

void sources_set_align(struct tk_sources *s, enum tk_align align) { s->impl->align = align; }
enum tk_align sources_align(const struct tk_sources *s) { return s->impl->align; }
