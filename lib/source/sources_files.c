/* sources_files.c - the files of inputs: paths, streams and copies. See sources.h. */
#include "sources.h"

#include "graph/diagnostics.h"
#include "sources_impl.h"
#include "sources_beside.h"

const char *sources_path(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  return c->entry == UINT32_MAX ? s->inputs[i].name : s->impl->source.entries[c->entry].path;
}

const char *sources_piece(const struct tk_sources *s, size_t i, size_t nth) {
  uint32_t entry = s->impl->chosen[i].entry;
  for (; nth && entry != UINT32_MAX; nth--) entry = s->impl->source.entries[entry].piece;
  return entry == UINT32_MAX ? sources_recording_path(s, i, nth) : s->impl->source.entries[entry].path;
}

bool sources_failed(const struct tk_sources *s, size_t i, struct tk_err *err) {
  const struct chosen *c = &s->impl->chosen[i];
  if (c->entry != UINT32_MAX) return false;
  if (err) *err = s->impl->source.origins[c->origin].failed;
  err_prefix(err, "%s", s->inputs[i].name);
  return true;
}

void sources_remarks(const struct tk_sources *s, struct tk_diagnostics *notes) {
  const struct source *src = &s->impl->source;
  for (uint32_t i = 0; i < src->n_origins; i++) {
    const struct source_origin *o = &src->origins[i];
    if (o->damage) diagnostics_say(notes, o->name, TK_NOTE_REPAIR, o->damage);
    else if (o->remark) diagnostics_say(notes, o->name, TK_NOTE_INFO, o->remark);
  }
}

static struct in *opened(const struct tk_sources *s, size_t i, struct in *in, struct tk_err *err) {
  if (!in && s->impl->chosen[i].entry != UINT32_MAX) err_prefix(err, "%s", s->inputs[i].name);
  return in;
}

struct in *sources_raw(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err) {
  struct source *src = &s->impl->source;
  return opened(s, i, sources_failed(s, i, err) ? NULL : source_open_raw(src, s->impl->chosen[i].entry, mem, err), err);
}

struct in *sources_unpacked(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err) {
  struct source *src = &s->impl->source;
  return opened(s, i, sources_failed(s, i, err) ? NULL : source_open(src, s->impl->chosen[i].entry, false, mem, err), err);
}

bool sources_keep(struct tk_sources *s, size_t i, const struct tk_progress *progress, struct tk_err *err) {
  struct source *src = &s->impl->source;
  uint32_t entry = s->impl->chosen[i].entry;
  src->progress = *progress;
  bool ok = entry == UINT32_MAX || (source_keep(src, entry, err) && sources_keep_recordings(s, i, err));
  src->progress = (struct tk_progress){.tick = NULL};
  return ok;
}

/* ---- for loading ---- */

bool sources_view(const struct tk_sources *s, size_t i, unsigned nth, struct source_view *v) {
  const struct source *src = &s->impl->source;
  uint32_t entry = s->impl->chosen[i].entry;
  for (unsigned k = 0; k < nth && entry != UINT32_MAX; k++) entry = src->places[entry].next;
  if (entry == UINT32_MAX || (nth && s->impl->opt.all_files)) return false;
  *v = (struct source_view){.entry = entry, .name = src->entries[entry].name, .host = src->places[entry].host,
                            .run = s->inputs[i].run, .format = src->entries[entry].format, .rank = s->inputs[i].rank,
                            .rank_from = s->impl->chosen[i].rank_from, .rank_note = s->impl->chosen[i].rank_note};
  if (nth == 0 && !*v->host) v->host = s->inputs[i].host;
  if (nth == 0) v->parts = s->impl->chosen[i].parts, v->part = s->impl->chosen[i].part, v->within = s->impl->chosen[i].within;
  return true;
}

const char *sources_ranks(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  return c->entry == UINT32_MAX || c->parts ? NULL : s->impl->source.entries[c->entry].ranks;
}

bool sources_is_file(const struct tk_sources *s, size_t i) {
  const struct source *src = &s->impl->source;
  uint32_t entry = s->impl->chosen[i].entry;
  if (entry == UINT32_MAX) return false;
  for (; entry != UINT32_MAX; entry = src->places[entry].next)
    if (src->entries[entry].once || src->origins[src->entries[entry].origin].kind == ORIGIN_ARCHIVE) return false;
  return sources_recording_is_file(s, i);
}

struct in *sources_open_view(struct tk_sources *s, const struct source_view *v, bool ahead, struct mem *mem, struct tk_err *err) {
  return source_open(&s->impl->source, v->entry, ahead, mem, err);
}
