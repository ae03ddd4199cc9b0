/* sources_beside.c - see sources_beside.h. */
#include "sources_beside.h"

#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "sources_impl.h"

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

/* Returns the rank that the content or the own name of the input states, or that it has in a file with several ranks; -1 = none. */
static int64_t stated_rank(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  const struct source_entry *e = entry_of(s, i);
  if (c->parts) return s->inputs[i].rank;
  if (e && e->rank >= 0) return e->rank;
  return c->rank_note ? -1 : s->inputs[i].rank; /* a note: the rank is a guess from the names of all inputs */
}

static size_t place_of_format(const char *name) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    if (strcmp(f->info.name, name) == 0) return i;
  return SIZE_MAX;
}

/* True if the input may be opened just to compare formats. Streams and addresses may not, unless the option `join` is set. */
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

/* An input and the rank that it claims. */
struct claim {
  int64_t rank;
  size_t place, input; /* place: index of the input's format in the table of formats */
};

static int claims_in_order(const void *pa, const void *pb) {
  const struct claim *a = pa, *b = pb;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  return (a->input > b->input) - (a->input < b->input);
}

/* Lists the inputs by rank, the main recording of each rank first. `one`: all inputs belong to one rank; otherwise inputs that
 * state no rank are left out. Returns NULL when memory runs out. */
static struct claim *list_claims(struct tk_sources *s, bool one, size_t *n) {
  struct claim *v = calloc(s->n + 1, sizeof *v);
  *n = 0;
  for (size_t i = 0; v && i < s->n; i++) {
    if (!is_recording(s, i) || (!one && stated_rank(s, i) < 0)) continue;
    s->inputs[i].format = entry_of(s, i)->format;
    v[(*n)++] = (struct claim){one ? 0 : stated_rank(s, i), place_of_format(s->inputs[i].format), i};
  }
  if (*n) qsort(v, *n, sizeof *v, claims_in_order);
  return v;
}

/* Returns the end of the group of claims of one rank that begins at `first`. *twice becomes an input that has the same format as
 * another input of the rank; SIZE_MAX = all formats differ. */
static size_t end_of_rank(const struct claim *v, size_t n, size_t first, size_t *twice) {
  size_t end = first + 1;
  *twice = SIZE_MAX;
  for (; end < n && v[end].rank == v[first].rank; end++)
    if (v[end].place == v[end - 1].place) *twice = v[end].input;
  return end;
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
  const struct tk_source_options *opt = &s->impl->opt;
  size_t n, twice;
  for (size_t i = 0; i < s->n; i++) main_of[i] = i;
  if (s->n < 2 || opt->join || opt->apart || opt->all_files || !may_differ(s)) return true;
  if (!look_at_all(s, err)) return false;
  struct claim *v = list_claims(s, false, &n);
  for (size_t i = 0, end; v && i < n; i = end) {
    end = end_of_rank(v, n, i, &twice);
    for (size_t k = i; k < end && twice == SIZE_MAX; k++) main_of[v[k].input] = v[i].input;
  }
  free(v);
  return v || err_set(err, TK_ELIMIT, "out of memory");
}

/* ---- joining ---- */

void sources_drop_joined(struct tk_sources *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++) {
    if (s->impl->chosen[i].joined) continue;
    s->inputs[n] = s->inputs[i];
    s->impl->chosen[n++] = s->impl->chosen[i];
  }
  s->n = s->impl->n = (uint32_t)n;
}

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

/* Joins the recordings v[first .. end) of a rank. */
static bool join_rank(struct tk_sources *s, const struct claim *v, size_t first, size_t end) {
  bool ok = true;
  for (size_t k = first + 1; k < end && ok; k++) ok = sources_put_beside(s, v[first].input, v[k].input);
  return ok;
}

bool sources_join_recordings(struct tk_sources *s, struct tk_err *err) {
  const bool one = have_one_rank(s);
  bool several, ok = true;
  size_t n, twice = SIZE_MAX;
  if (!sources_have_formats(s, &several, err)) return false;
  if (!several || s->impl->opt.all_files || s->impl->opt.apart) return true;
  for (size_t i = 0; i < s->n && !one; i++)
    if (is_recording(s, i) && stated_rank(s, i) < 0) return refuse_unknown(s, i, err);
  struct claim *v = list_claims(s, one, &n);
  for (size_t i = 0, end; v && i < n && ok && twice == SIZE_MAX; i = end) {
    end = end_of_rank(v, n, i, &twice);
    ok = twice != SIZE_MAX || join_rank(s, v, i, end);
  }
  free(v);
  if (!v || !ok) return err_set(err, TK_ELIMIT, "out of memory");
  if (twice != SIZE_MAX)
    return err_set(err, TK_EUSAGE, "%s: cannot be joined: its rank has another input of the same format; join the pieces of one "
                                   "format first", s->inputs[twice].name);
  sources_drop_joined(s);
  return true;
}

/* ---- reading ---- */

static const struct beside *nth_beside(const struct tk_sources *s, size_t i, size_t nth) {
  const struct beside *b = s->impl ? s->impl->chosen[i].beside : NULL; /* inputs of a plan have only names */
  while (b && nth--) b = b->next;
  return b;
}

bool sources_recording(const struct tk_sources *s, size_t i, size_t nth, struct source_view *v) {
  const struct beside *b = nth_beside(s, i, nth);
  if (!b) return false;
  const struct chosen *c = &b->chosen;
  *v = (struct source_view){.entry = c->entry, .name = b->input.name, .host = b->input.host, .run = b->input.run,
                            .format = s->impl->source.entries[c->entry].format,
                            .rank = b->input.rank, .rank_from = c->rank_from, .rank_note = c->rank_note,
                            .parts = c->parts, .part = c->part, .within = c->within};
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

void sources_set_cut(struct tk_sources *s, struct trace_early cut) { s->impl->cut = cut; }
struct trace_early sources_cut(const struct tk_sources *s) { return s->impl->cut; }

void sources_set_align(struct tk_sources *s, enum tk_align align) { s->impl->align = align; }
enum tk_align sources_align(const struct tk_sources *s) { return s->impl->align; }
