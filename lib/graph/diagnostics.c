/* diagnostics.c - notes and their texts.
 *
 * Equal texts share one pointer. Equal notes, within a trace and over many inputs, are found and counted by comparing pointers. */
#include "diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OF_A_SOURCE = 256 };

struct tk_diagnostics_impl {
  struct mem mem;
  struct intern strings;
  struct tk_diagnostic *list;
  uint32_t cap;
};

struct tk_diagnostics *diagnostics_new(void) {
  struct tk_diagnostics *d = calloc(1, sizeof *d);
  struct tk_diagnostics_impl *own = calloc(1, sizeof *own);
  if (!d || !own) {
    free(d);
    free(own);
    return NULL;
  }
  intern_init(&own->strings, &own->mem);
  d->impl = own;
  return d;
}

void tk_diagnostics_free(struct tk_diagnostics *d) {
  if (!d) return;
  intern_free(&d->impl->strings);
  mem_free(&d->impl->mem, d->impl->list);
  free(d->impl);
  free(d);
}

bool diagnostics_check(const struct tk_diagnostics *d, struct tk_err *err) { return mem_check(&d->impl->mem, err); }

const char *diagnostics_bytes(struct tk_diagnostics *d, const void *p, size_t n) {
  const uint32_t id = intern(&d->impl->strings, p, n);
  return id ? (const char *)d->impl->strings.strs[id].bytes : "";
}

const char *diagnostics_text(struct tk_diagnostics *d, const char *text) { return diagnostics_bytes(d, text, strlen(text)); }

/* Adds a note, or increases the count of an equal one. Only the latest notes of the same source are searched, so the cost does not grow
 * with the number of sources. */
static void add(struct tk_diagnostics *d, const struct tk_diagnostic *like) {
  struct tk_diagnostics_impl *own = d->impl;
  const char *source = like->source && *like->source ? diagnostics_text(d, like->source) : NULL;
  size_t n = 0;
  while (n < d->n && (!source || own->list[d->n - n - 1].source == source)) n++;
  const char *text = diagnostics_text(d, n < MOST_OF_A_SOURCE ? like->text : "other repairs (not listed)");
  for (size_t i = d->n - n; i < d->n; i++) {
    struct tk_diagnostic *said = &own->list[i];
    if (said->text != text || said->kind != like->kind || said->source != source) continue;
    said->count += like->count;
    if (like->offset < said->offset) said->offset = like->offset;
    return;
  }
  if (!mem_grow(&own->mem, (void **)&own->list, &own->cap, (uint64_t)d->n + 1, sizeof *own->list)) return;
  own->list[d->n++] = (struct tk_diagnostic){like->kind, like->count, like->offset, text, source};
  d->list = own->list;
}

void diagnostics_say(struct tk_diagnostics *d, const char *source, enum tk_note_kind kind, const char *text) {
  add(d, &(struct tk_diagnostic){kind, 1, UINT64_MAX, text, source});
}

void diagnostics_say_left_out(struct tk_diagnostics *d, const char *source, const char *why) {
  char text[1024];
  snprintf(text, sizeof text, "left out: %s", err_without(why, source));
  diagnostics_say(d, source, TK_NOTE_INFO, text);
}

void diagnostics_add_notes(struct tk_diagnostics *d, const struct tk_trace *t, const char *source) {
  for (tk_id i = 1; i <= t->n_notes; i++) {
    const struct tk_note *n = &t->notes[i];
    const char *of = n->source ? tk_string(t, n->source, NULL) : source;
    add(d, &(struct tk_diagnostic){n->kind, n->count, n->offset, tk_string(t, n->text, NULL), of});
  }
}

void diagnostics_add(struct tk_diagnostics *d, const struct tk_diagnostics *from) {
  for (size_t i = 0; from && i < from->n; i++) add(d, &from->list[i]);
}

void diagnostics_give(const struct tk_diagnostics *d, struct tk_trace *t) {
  for (size_t i = 0; i < d->n; i++) {
    const struct tk_diagnostic *s = &d->list[i];
    trace_note_of(t, s->source, &(struct tk_note){.kind = s->kind, .count = s->count, .offset = s->offset}, s->text);
  }
}

struct tk_diagnostics *tk_trace_diagnostics(const struct tk_trace *t) {
  struct tk_diagnostics *d = diagnostics_new();
  if (d) diagnostics_add_notes(d, t, NULL);
  if (!d || !d->impl->mem.failed) return d;
  tk_diagnostics_free(d);
  return NULL;
}
