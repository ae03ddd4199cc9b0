/* save.c - implements tk_save: writes a graph to a file with the writer of a format. */
#include "save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/os.h"
#include "base/progress.h"
#include "io/packing.h"
#include "reread.h"
#include "format/json.h"
#include "format/pb_out.h"

static const struct format *choose_format(const char *path, const struct tk_save_options *opt, const char *like,
                                          struct tk_err *err) {
  const struct format *f = opt->format ? format_by_word(opt->format) : format_by_path(path);
  if (!f && opt->format) {
    err_for(err, TK_OPTION_FORMAT, TK_EUSAGE, "unknown format '%s'", opt->format);
    return NULL;
  }
  if (!f && (strcmp(path, "-") == 0 || tk_path_of(path).bare)) f = format_by_name(like);
  if (!f) err_for(err, TK_OPTION_FORMAT, TK_EUSAGE, "unknown extension");
  else if (!f->info.can_write) err_for(err, TK_OPTION_FORMAT, TK_EUSAGE, "%s cannot be written; choose another format", f->info.title);
  else return f;
  return NULL;
}

/* Returns the requested compression: the one of the path's extension, otherwise the one of the format, as in "-f json.gz". */
static const struct packing *packing_asked(const char *path, const struct tk_save_options *opt) {
  const struct packing *packing = packing_of_path(path, strlen(path));
  return packing || !opt->format ? packing : packing_of_path(opt->format, strlen(opt->format));
}

static bool open_output(struct saver *s, const char *path, const struct tk_save_options *opt, const struct out_options *out,
                        struct tk_err *err) {
  if (opt->dry_run) return out_count(&s->out, out, &s->mem, err);
  if (s->to.write) return out_custom(&s->out, s->to, out, &s->mem, err);
  return out_open(&s->out, path, out, &s->mem, err);
}

static struct sink_options sink_options_of(const struct saver *s, const struct tk_save_options *opt) {
  return (struct sink_options){
      .pretty = opt->pretty, .overlaps = opt->overlaps, .no_passthrough = opt->no_passthrough, .progress = opt->progress,
      .meter = s->meter, .several = s->several, .timeline = s->timeline, .host = s->host,
      .threads = s->joins ? 1 : os_threads(opt->threads)};
}

static struct out_options out_options_of(const struct saver *s, const struct packing *packing, const struct tk_save_options *opt) {
  const bool gzip = packing == packing_row(PACKING_GZIP);
  return (struct out_options){
      .gzip = gzip, .zstd = packing == packing_row(PACKING_ZSTD), .force = opt->force, .same = opt->same, .part = s->part,
      .level = gzip && !opt->level ? s->format->gzip_level : opt->level, .binary = s->format->binary || s->part,
      .threads = s->joins ? 1 : os_threads(opt->threads)};
}

bool save_open(struct saver *s, const char *path, const struct tk_save_options *opt, const char *like,
                const char *const *inputs, struct tk_err *err) {
  if (!RESERVED(opt, err)) return false;
  s->format = choose_format(path, opt, like, err);
  struct sink_options sink = sink_options_of(s, opt);
  if (!s->format || !settings_save(opt, s->format->info.name, &sink, err)) return false;
  const struct packing *packing = packing_asked(s->part ? "" : path, opt);
  struct out_options out = out_options_of(s, packing, opt);
  out.inputs = inputs;
  s->progress = opt->progress;
  s->path = path;
  s->packs = out.gzip || out.zstd;
  s->dry_run = opt->dry_run;
  s->no_loss = opt->no_loss;
  s->no_passthrough = opt->no_passthrough;
  if (packing && !packing->written)
    return err_set(err, TK_EUSAGE, "%s compression is not supported for output; use .gz or .zst", packing->name);
  if (!open_output(s, path, opt, &out, err)) return false;
  if (!opt->no_passthrough && !format_carry(s->format, s->starts, &s->carry))
    return err_set(err, TK_ELIMIT, "out of memory");
  sink.carry = &s->carry;
  sink.start = format_start(s->starts, s->format);
  s->sink = s->format->writer(&s->out, &sink);
  if (s->sink) sink_leave_out(s->sink, s->format->info.holds);
  return s->sink || err_set(err, TK_ELIMIT, "out of memory");
}

const struct format *save_cuts(const char *path, const struct tk_save_options *opt, const struct tk_trace *t) {
  const struct format *f = opt->format ? format_by_word(opt->format) : format_by_path(path);
  if (!f && t->format) f = format_by_name(t->format);
  return f && f->passthrough_times && t->format && strcmp(f->info.name, t->format) == 0 ? f : NULL;
}

bool save_derives(const char *path, const struct tk_save_options *opt, const char *like) {
  const struct format *f = opt->format ? format_by_word(opt->format) : format_by_path(path);
  if (!f) f = format_by_name(like);
  return f && !f->info.derives;
}

void save_count_lost(struct saver *s, const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++) s->derived += t->tracks[i].derived ? t->tracks[i].count : 0;
  const bool is_cut = trace_cut_of(t) && t->format && strcmp(s->format->info.name, t->format) == 0;
  if (!s->no_passthrough && !is_cut) sink_lose(s->sink, TK_LOSS_PASSTHROUGH, t->store->early.n);
  if (!s->no_passthrough) format_count_lost(s->format, &s->carry, t, s->sink);
  sink_lose_unheld(s->sink, t, s->format->info.holds);
}

bool save_write(struct saver *s, const struct tk_trace *t, struct tk_err *err) {
  progress_phase(&s->progress, (struct tk_phase){.what = "writing", .name = s->path, .events = true});
  save_count_lost(s, t);
  s->is_cut = s->is_cut || trace_cut_of(t);
  return s->sink->write(s->sink, t, err) && mem_check_process(&t->store->mem, err); /* the buffers of outputs are not counted */
}

/* ---- parts ---- */

enum { LEFT_SINK = 1, LEFT_CARRIED = 2 };
enum { CARRIED_BYTES = 1, CARRIED_STATE = 2 };

void save_leave(struct saver *s, struct buf *to) {
  struct buf one = {.mem = to->mem}, state = {.mem = to->mem};
  const char *name;
  const uint8_t *p;
  size_t n;
  s->sink->leave(s->sink, &state);
  pb_message(to, LEFT_SINK, &state);
  for (unsigned i = 0; i < s->carry.n && (p = carry_take(&s->carry, i, &name, &n)) != NULL; i++) {
    one.len = state.len = 0;
    pb_bytes(&one, CARRIED_BYTES, p, n);
    s->carry.of[i].sink->leave(s->carry.of[i].sink, &state);
    pb_message(&one, CARRIED_STATE, &state);
    pb_message(to, LEFT_CARRIED, &one);
  }
  buf_free(&one);
  buf_free(&state);
}

static bool take_carried(struct saver *s, struct carried *c, struct pb in, struct tk_err *err) {
  struct sink_piece piece = {.raw = 0};
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (f.wire != PB_BYTES) return false;
    if (f.number == CARRIED_BYTES) out_write(&c->out, f.p, (size_t)f.value);
    else piece.state = f.p, piece.n_state = (size_t)f.value;
  }
  c->sink->graphs = s->sink->graphs;
  c->sink->ordinal = s->sink->ordinal;
  return piece.state && c->sink->take(c->sink, &piece, err);
}

bool save_take(struct saver *s, uint64_t raw, const uint8_t *left, size_t n, struct tk_err *err) {
  struct pb c = pb_over(left, n);
  struct pb_field f;
  unsigned carried = 0;
  bool ok = true;
  while (ok && pb_next(&c, &f)) {
    struct sink_piece piece = {raw, f.p, (size_t)f.value};
    if (f.wire != PB_BYTES) ok = false;
    else if (f.number == LEFT_SINK) ok = s->sink->take(s->sink, &piece, err);
    else ok = carried < s->carry.n && take_carried(s, &s->carry.of[carried++], pb_inside(&f), err);
  }
  return (ok && !c.fault) || err_set(err, TK_EFORMAT, "this part of a merge is damaged");
}

/* Writes a list of the losses, such as "flow points: 588, args: 3402". */
static void list_losses(const struct tk_saved *saved, char *text, size_t size) {
  *text = 0;
  for (int i = 0; i < TK_LOSSES; i++) {
    size_t n = strlen(text);
    if (saved->lost[i])
      snprintf(text + n, size - n, "%s%s: %llu", n ? ", " : "", tk_loss_name((enum tk_loss)i),
               (unsigned long long)saved->lost[i]);
  }
}

static bool refuse_losses(const struct saver *s, struct tk_err *err) {
  char text[512];
  list_losses(&s->sink->saved, text, sizeof text);
  return !s->no_loss || !*text || err_for(err, TK_OPTION_NO_LOSS, TK_ELOSS, "%s cannot represent %s", s->format->info.title, text);
}

bool save_finish(struct saver *s, struct tk_saved *done, struct tk_err *err) {
  if (s->packs) progress_phase(&s->progress, (struct tk_phase){.what = "compressing", .name = s->path});
  if (!refuse_losses(s, err) || !mem_check(&s->mem, err) || !mem_check(&s->carry.mem, err) || !out_finish(&s->out, err)) return false;
  *done = s->sink->saved;
  if (!s->format->info.derives) {
    done->derived = s->derived;
    done->events -= s->derived;
    done->records -= s->derived;
  }
  done->format = &s->format->info;
  done->raw_bytes = out_raw_bytes(&s->out);
  done->bytes = out_file_bytes(&s->out);
  return true;
}

bool save_commit(struct saver *s, struct tk_saved *done, struct tk_err *err) {
  if (!save_finish(s, done, err)) return false;
  if (s->most && done->bytes > s->most) return true;
  if (!out_commit(&s->out, err)) return false;
  done->was_there = out_was_there(&s->out);
  return s->dry_run || s->part || s->joins || s->to.write || reread_agrees(s->path, s->format, s->is_cut, done, err);
}

void save_close(struct saver *s) {
  if (s->sink) s->sink->free(s->sink);
  format_carry_free(&s->carry);
  out_close(&s->out);
  s->sink = NULL;
}

/* Copies the members that earlier commands recorded about the trace (its ranks, how it was shrunk) and that are still valid: all
 * members that this command does not replace. If the user wants no provenance, copies only the ranks, which are part of the trace
 * itself. */
static void put_earlier(struct buf *b, const struct tk_trace *t, const char *provenance, bool ranks_only) {
  const struct tk_meta *m = t ? trace_meta(t, "tracekit") : NULL;
  struct json_string key;
  struct json_value v;
  if (!m || m->origin || m->size < 2 || *trace_raw(t, m->at) != '{') return;
  const uint8_t *text = (const uint8_t *)trace_raw(t, m->at);
  struct json j = {.p = text + 1, .end = text + m->size, .last = true, .scratch = {.mem = b->mem}};
  while (json_blank(&j) && *j.p == '"' && json_key(&j, &key) && json_value(&j, &v)) {
    bool anew = json_is(&j, &key, "version") || json_is(&j, &key, "command") || (provenance && json_is(&j, &key, provenance));
    if (ranks_only ? json_is(&j, &key, "ranks") : !anew) {
      buf_text(b, b->len ? "," : "{");
      buf_append(b, key.p - 1, key.n + 2);
      buf_text(b, ":");
      buf_append(b, v.p, (size_t)(v.end - v.p));
    }
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  buf_free(&j.scratch);
}

static void put_host(struct buf *b, const struct tk_trace *t, const struct format *to) {
  const bool is_known = t && *t->host && t->format && !trace_meta(t, "tracekit");
  if (!is_known || !to || strcmp(t->format, to->info.name) == 0) return;
  buf_text(b, ",\"host\":");
  json_quote(b, t->host, strlen(t->host));
}

const char *save_provenance_in(struct buf *b, const struct tk_save_options *opt, const struct tk_trace *t, const struct format *to) {
  char said[32] = "";
  if (opt->provenance && sscanf(opt->provenance, "\"%31[a-z]", said) != 1) *said = 0;
  if (opt->command) {
    buf_text(b, "{\"version\":\"" TK_VERSION "\",\"command\":");
    json_quote(b, opt->command, strlen(opt->command));
  }
  if (opt->command) put_host(b, t, to);
  put_earlier(b, t, *said ? said : NULL, !opt->command);
  if (opt->command && opt->provenance) {
    buf_text(b, ",");
    buf_text(b, opt->provenance);
  }
  if (!b->len || !buf_append(b, "}", 2)) return NULL;
  return (const char *)b->data;
}

const char *save_provenance(struct buf *b, const struct tk_save_options *opt, const struct tk_trace *t) {
  return save_provenance_in(b, opt, t, NULL);
}

static bool save(const struct tk_trace *t, const char *path, struct saver s, const struct tk_save_options *opt, struct tk_saved *done,
                 struct tk_err *err) {
  static const struct tk_save_options defaults = {0};
  struct tk_saved counted;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err)) return false;
  const char *const named[] = {t->source, NULL}, *const *inputs = t->files ? t->files : named;
  if (!opt) opt = &defaults;
  bool ok = save_open(&s, path, opt, t->format, inputs, err);
  struct buf provenance = {.mem = &s.mem};
  ok = ok && s.sink->open(s.sink, t, err) && save_write(&s, t, err) &&
       s.sink->close(s.sink, t, save_provenance_in(&provenance, opt, t, s.format), err) && save_commit(&s, done ? done : &counted, err);
  buf_free(&provenance);
  save_close(&s);
  return ok || err_prefix(err, "%s", strcmp(path, "-") == 0 ? "standard output" : path);
}

bool tk_save(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, struct tk_saved *done,
             struct tk_err *err) {
  return save(t, path, (struct saver){0}, opt, done, err);
}

bool save_within(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, uint64_t most, struct tk_saved *done,
                 struct tk_err *err) {
  return save(t, path, (struct saver){.most = most}, opt, done, err);
}

bool tk_save_stream(const struct tk_trace *t, const char *name, struct tk_writer to, const struct tk_save_options *opt,
                    struct tk_saved *done, struct tk_err *err) {
  return save(t, name, (struct saver){.to = to}, opt, done, err);
}

static bool write_fd(void *arg, const void *p, size_t n) { return os_write(*(int *)arg, p, n); }

bool tk_save_fd(const struct tk_trace *t, const char *name, int fd, const struct tk_save_options *opt, struct tk_saved *done,
                struct tk_err *err) {
  return tk_save_stream(t, name, (struct tk_writer){write_fd, &fd}, opt, done, err);
}

static bool write_memory(void *arg, const void *p, size_t n) { return buf_append(arg, p, n); }

bool tk_save_memory(const struct tk_trace *t, const char *name, struct tk_bytes *to, const struct tk_save_options *opt,
                    struct tk_saved *done, struct tk_err *err) {
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  *to = (struct tk_bytes){0};
  bool ok = tk_save_stream(t, name, (struct tk_writer){write_memory, &b}, opt, done, err);
  if (ok && b.len) to->p = malloc(b.len);
  if (ok && b.len && !to->p) ok = err_set(err, TK_ELIMIT, "out of memory");
  if (to->p) memcpy(to->p, b.data, to->n = b.len);
  buf_free(&b);
  return ok;
}
