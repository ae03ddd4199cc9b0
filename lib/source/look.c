/* look.c - see look.h. */
#include "look.h"

#include <stdio.h>

#include "format/ending.h"
#include "format/stranger.h"
#include "opening.h"
#include "provenance.h"

enum { UNKNOWN = -1 };

/* True if only complete files are wanted and this one ends early. Not tested on a stream, which can be read only once. */
static bool ends_early(const struct source *s, const struct source_entry *e, const struct format *f, struct in *in) {
  return s->complete_only && in != e->held && !f->is_database && !ending_is_whole(f, in);
}

/* Takes the ranks that tracekit recorded behind the events, because the name of the input states none. */
static void take_provenance(struct source *s, struct source_entry *e, struct in *in) {
  struct provenance p = {.ranks = {.mem = &s->mem}};
  provenance_find(in, &p);
  e->rank = p.rank;
  if (p.ranks.len && buf_append(&p.ranks, "", 1)) e->ranks = source_text(s, (const char *)p.ranks.data);
  buf_free(&p.ranks);
}

static void take_trace(struct source *s, struct source_entry *e, const struct format *f, struct in *in) {
  e->look = LOOK_TRACE;
  e->format = f->info.name;
  e->rank = f->stated_rank ? f->stated_rank(in) : UNKNOWN;
  if (e->rank < 0 && in != e->held && !f->is_database) take_provenance(s, e, in);
  e->pid = f->stated_process ? f->stated_process(in) : UNKNOWN;
  if (!ends_early(s, e, f, in)) return;
  e->look = LOOK_CUT;
  e->why = "ends early";
}

void look_at_beginning(void *arg, struct source *s, uint32_t entry, struct in *in, struct tk_err *err) {
  struct source_entry *e = &s->entries[entry];
  char text[80];
  size_t n = 0;
  const uint8_t *p = in ? in_ahead(in, FORMAT_PEEK, &n, err) : NULL;
  const struct format *f = p && n ? format_detect(in, s->places[entry].rel, NULL, err) : NULL;
  (void)arg;
  const char *result = n == 0 ? stranger_result(s->places[entry].rel) : NULL; /* empty results need no message */
  e->look = !p && err->code != TK_EFORMAT ? LOOK_DAMAGED : p && n == 0 && !result ? LOOK_EMPTY : LOOK_NO_TRACE;
  if (!f && (err->code == TK_EOPEN || err->code == TK_EREAD || err->code == TK_ELIMIT)) e->look = LOOK_FAILED;
  if (!f) {
    e->why = p && result ? result : n == 0 && p ? "empty file" : source_text(s, err->msg);
  } else if (f->is_trace && !f->is_trace(in)) {
    snprintf(text, sizeof text, "%s without events", f->info.title);
    e->why = source_text(s, text);
  } else {
    take_trace(s, e, f, in);
  }
}

bool look_may_be_trace(const struct source *s, uint32_t entry) {
  const enum source_look look = s->entries[entry].look;
  return look == LOOK_TRACE || look == LOOK_FAILED || (look == LOOK_CUT && !s->complete_only);
}

void look_take_cut(struct source *s) {
  for (uint32_t i = 0; i < s->n_entries; i++)
    if (s->entries[i].look == LOOK_CUT) s->entries[i].look = LOOK_TRACE;
}

enum tk_health look_health(const struct source_entry *e) {
  static const enum tk_health healths[] = {
      [LOOK_NONE] = TK_HEALTH_UNKNOWN,      [LOOK_TRACE] = TK_HEALTH_UNKNOWN,   [LOOK_CUT] = TK_HEALTH_TRUNCATED,
      [LOOK_EMPTY] = TK_HEALTH_EMPTY,       [LOOK_NO_TRACE] = TK_HEALTH_NO_TRACE, [LOOK_DAMAGED] = TK_HEALTH_CORRUPT,
      [LOOK_FAILED] = TK_HEALTH_UNKNOWN};
  return healths[e->look];
}
