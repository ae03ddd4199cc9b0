/* manifest.c - see manifest.h.
 *
 * Perfetto's rule: a file's clock reads T when the clock of the file it is synced to reads T + offset_ns. Chrome JSON has no
 * clock: Perfetto places it at time 0 and drops events before 0. Therefore the clocks of all files are synced to a single file,
 * the reference: a Perfetto trace if there is one, otherwise the reference of the merge. If another file starts before the zero
 * of the merge's reference, the file with the earliest zero becomes the reference instead. At most one file may be a trace of
 * several machines. It becomes the reference, and the manifest names the one of its machines whose clock is meant. */
#include "manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "format/json.h"
#include "format/json_put.h"
#include "format/format.h"
#include "io/packing.h"
#include "io/tar.h"
#include "sources.h"

static const char MEMBER[] = "perfetto_manifest.json";
enum { LONGEST = 99 }; /* longest member name that the packer of Perfetto's viewer supports */

/* ---- the output ---- */

/* Reserves a name; returns false if it is already in use. Names with equal hashes count as equal. */
static bool claim_name(struct manifest *m, const char *name) {
  uint32_t *next = map_put(&m->names, hash_text(name, strlen(name)), 0);
  if (!next || *next) return false;
  *next = 2;
  return true;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

bool manifest_open(struct manifest *m, const char *output, const struct tk_save_options *opt, const char *const *inputs,
                   struct tk_err *err) {
  struct out_options out = { .gzip = packing_of_path(output, strlen(output)) == packing_row(PACKING_GZIP),
                             .level = opt->level,
                             .force = opt->force,
                             .inputs = inputs };
  bool named = strcmp(output, "-") == 0 || ends_with(output, ".tar") || ends_with(output, ".tar.gz");
  m->arena.mem = &m->mem;
  map_init(&m->names, &m->mem);
  claim_name(m, MEMBER);
  if (opt->format)
    return err_set(err, TK_EUSAGE, "a manifest copies the inputs unchanged; they cannot be converted to %s", opt->format);
  if (!named) return err_set(err, TK_EUSAGE, "a manifest is written to a tar; use .tar or .tar.gz");
  out.binary = true;
  return opt->dry_run ? out_count(&m->out, &out, &m->mem, err) : out_open(&m->out, output, &out, &m->mem, err);
}

void manifest_close(struct manifest *m) {
  out_close(&m->out);
  mem_free(&m->mem, m->files);
  if (m->names.mem) map_free(&m->names);
  arena_free(&m->arena);
  *m = (struct manifest){.n = 0};
}

/* ---- what Perfetto can read ---- */

bool manifest_takes(struct tk_sources *s, size_t input, const struct tk_trace *t, struct tk_err *err) {
  const char *name = s->inputs[input].name;
  const struct format *format = format_by_name(t->format);
  if (strcmp(t->source, name) != 0)
    return err_set(err, TK_ECORRUPT, "%s: is damaged; a manifest cannot use %s instead", name, t->source);
  if (format->in_manifest) return true;
  return err_set(err, TK_EFORMAT, "%s: Perfetto cannot read %s; convert it, or merge without a manifest", name,
                 format->info.title);
}

/* ---- names ---- */

/* Returns the last component of the path of a file or an archive member. */
static const char *base_name(const char *name, const char *archive) {
  size_t n = strlen(archive);
  if (strncmp(name, archive, n) == 0 && name[n] == ':') name += n + 1;
  const char *slash = strrchr(name, '/');
  return slash ? slash + 1 : name;
}

/* Returns the length of the name without an extension such as ".gz". */
static size_t unpacked_length(const char *name) {
  const size_t n = strlen(name);
  const struct packing *by = packing_of_path(name, n);
  return by ? n - strlen(by->ending) : n;
}

/* Returns a unique name that every tar reader accepts; standard input gets the name of its format. Perfetto skips files whose
 * names begin with a dot. */
static const char *name_member(struct manifest *m, const struct tk_trace *t, const char *base) {
  char safe[LONGEST + 1], name[LONGEST + 32], stdin_name[80];
  size_t n = unpacked_length(base), room = LONGEST - 16; /* leaves room for a number that makes the name unique */
  snprintf(stdin_name, sizeof stdin_name, "stdin%s", format_by_name(t->format)->info.ending);
  if (strcmp(base, "-") == 0) base = stdin_name, n = strlen(base);
  if (n > room) base += n - room, n = room;
  for (size_t i = 0; i < n; i++) safe[i] = base[i] > ' ' && base[i] < 127 && base[i] != '\\' ? base[i] : '_';
  safe[n] = 0;
  if (*safe == '.') *safe = '_';
  snprintf(name, sizeof name, "%s", safe);
  while (!claim_name(m, name)) {
    uint32_t *next = map_get(&m->names, hash_text(safe, strlen(safe)));
    if (!next) return NULL;
    snprintf(name, sizeof name, "%u.%s", (*next)++, safe);
  }
  return arena_text(&m->arena, name, strlen(name));
}

/* ---- inputs ---- */

static bool is_interrupted(const struct tk_progress *p, const struct in *in, struct tk_err *err) {
  if (!p->tick || p->tick(p->arg, in_raw_read(in), in_raw_total(in))) return false;
  return !err_set(err, TK_EINTERRUPTED, "interrupted");
}

/* Finds the decompressed size of an input. */
static bool measure_input(struct tk_sources *s, size_t input, uint64_t *size, struct tk_err *err) {
  struct mem mem = {0};
  struct in *in = sources_unpacked(s, input, &mem, err);
  const uint8_t *p = NULL;
  size_t n = 0;
  for (*size = 0; in && (p = in_ahead(in, 1, &n, err)) != NULL && n > 0; in_consume(in, n)) *size += n;
  in_close(in);
  return p != NULL;
}

static const char *clock_name(const struct tk_trace *t) {
  const struct format *f = format_by_name(t->format);
  return f->clock_name ? f->clock_name(t) : NULL;
}

/* Names the machines of a trace: the rank, then the machine's own name. A machine without an id gets the name of the rank. */
static bool name_machines(struct manifest *m, const struct tk_trace *t, struct manifest_file *file) {
  const struct format *format = format_by_name(t->format);
  struct format_machine k;
  char text[1280];
  uint32_t n = 0;
  if (!format->machine) return true;
  while (format->machine(t, n, &k)) n++;
  if (n == 0 || (n == 1 && format->machine(t, 0, &k) && k.id == 0)) return true;
  struct manifest_machine *all = arena_alloc(&m->arena, (n + 1) * sizeof *all);
  if (!all) return false;
  all[file->n_machines++] = (struct manifest_machine){0, file->machine};
  for (uint32_t i = 0; format->machine(t, i, &k); i++) {
    if (k.id == 0) continue;
    snprintf(text, sizeof text, "%s - %s", file->machine, tk_string(t, k.name, NULL));
    size_t len = strlen(text);
    while (len && !utf8_valid((const uint8_t *)text, len)) len--; /* drop a character that was cut in the middle */
    const char *name = arena_text(&m->arena, text, len);
    if (!name) return false;
    all[file->n_machines++] = (struct manifest_machine){k.id, name};
  }
  file->machines = all;
  return true;
}

bool manifest_add(struct manifest *m, const struct tk_trace *t, struct tk_sources *s, struct manifest_file file,
                  struct tk_err *err) {
  tk_time start, end;
  file.machine = arena_text(&m->arena, file.machine, strlen(file.machine));
  if (!file.machine || !name_machines(m, t, &file)) return mem_refuse(&m->mem, err);
  if (!mem_grow(&m->mem, (void **)&m->files, &m->cap, (uint64_t)m->n + 1, sizeof *m->files)) return mem_refuse(&m->mem, err);
  file.clock = clock_name(t);
  file.path = name_member(m, t, base_name(s->inputs[file.input].name, sources_path(s, file.input)));
  if (!file.path) return mem_refuse(&m->mem, err);
  trace_extent(t, &start, &end);
  file.start_ns = t->origin_ns - t->zero_ns + start / 1000;
  if (!measure_input(s, file.input, &file.size, err)) return false;
  m->files[m->n++] = file;
  return true;
}

/* ---- the manifest ---- */

static void write_piece(struct buf *b, const char *text) { buf_append(b, text, strlen(text)); }

static bool offset(const struct manifest_file *f, const struct manifest_file *to, int64_t *ns) {
  return !__builtin_sub_overflow(f->shift_ns, to->shift_ns, ns) && *ns != INT64_MIN;
}

/* True if file `f` starts before the zero of file `to`. */
static bool is_before(const struct manifest_file *f, const struct manifest_file *to) {
  int64_t ns, at;
  return offset(f, to, &ns) && !__builtin_add_overflow(f->start_ns, ns, &at) && at < 0;
}

static void choose_reference(struct manifest *m) {
  uint32_t earliest = 0;
  bool before = false;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->files[i].clock && !m->files[m->reference].clock) m->reference = i;
    if (m->files[i].shift_ns < m->files[earliest].shift_ns) earliest = i;
  }
  for (uint32_t i = 0; i < m->n; i++)
    if (m->files[i].n_machines && !m->files[m->reference].n_machines) m->reference = i;
  for (uint32_t i = 0; i < m->n; i++) before = before || is_before(&m->files[i], &m->files[m->reference]);
  if (before && !m->files[m->reference].clock) m->reference = earliest;
  for (uint32_t i = 0; i < m->n; i++) m->files[i].early = is_before(&m->files[i], &m->files[m->reference]);
}

static void put_machine(struct buf *b, const struct manifest_file *f) {
  char number[24];
  if (!f->n_machines) {
    json_put_text(b, ",\"machine\":{\"name\":", f->machine);
    write_piece(b, "}");
    return;
  }
  for (uint32_t i = 0; i < f->n_machines; i++) {
    write_piece(b, i ? ",{\"id\":" : ",\"machines\":[{\"id\":");
    buf_append(b, number, num_put_u64(number, f->machines[i].id));
    json_put_text(b, ",\"name\":", f->machines[i].name);
    write_piece(b, "}");
  }
  write_piece(b, "]");
}

static bool put_file(struct buf *b, const struct manifest_file *f, const struct manifest_file *to, struct tk_err *err) {
  char number[24];
  int64_t ns;
  json_put_text(b, "\n{\"path\":", f->path);
  put_machine(b, f);
  if (f == to) {
    write_piece(b, "}");
    return true;
  }
  if (f->n_machines)
    return err_set(err, TK_EUSAGE, "%s, %s: only one trace in a manifest may cover several machines; merge without a manifest",
                   to->path, f->path);
  if (!offset(f, to, &ns))
    return err_set(err, TK_ELIMIT, "%s: recorded too long before or after %s to share a manifest with it", f->path, to->path);
  if (f->clock) json_put_text(b, ",\"clocks\":{\"clock\":", f->clock);
  json_put_text(b, f->clock ? ",\"sync_to\":{\"file\":" : ",\"clocks\":{\"sync_to\":{\"file\":", to->path);
  if (to->n_machines) json_put_text(b, ",\"machine\":", to->machine);
  if (to->clock) json_put_text(b, ",\"clock\":", to->clock);
  write_piece(b, "},\"offset_ns\":");
  buf_append(b, number, num_put_i64(number, ns));
  write_piece(b, "}}");
  return true;
}

static bool put_manifest(struct buf *b, const struct manifest *m, const char *provenance, struct tk_err *err) {
  const struct manifest_file *to = &m->files[m->reference];
  write_piece(b, "{\"perfetto_manifest\":{\"version\":1,");
  if (to->clock) {
    json_put_text(b, "\"trace_time\":{\"clock\":", to->clock);
    json_put_text(b, ",\"file\":", to->path);
    if (to->n_machines) json_put_text(b, ",\"machine\":", to->machine);
    write_piece(b, "},");
  }
  write_piece(b, "\"files\":[");
  for (uint32_t i = 0; i < m->n; i++) {
    if (i) write_piece(b, ",");
    if (!put_file(b, &m->files[i], to, err)) return false;
  }
  write_piece(b, "]");
  if (provenance) json_put_text(b, ",\n\"attributes\":{\"tracekit\":", provenance), write_piece(b, "}");
  write_piece(b, "}}\n");
  return mem_check(b->mem, err);
}

/* ---- the tar ---- */

static bool copy_input(struct tar *tar, struct tk_sources *s, const struct manifest_file *f, const struct tk_progress *progress,
                 struct tk_err *err) {
  struct mem mem = {0};
  const char *name = s->inputs[f->input].name;
  struct in *in = tar_member(tar, f->path, f->size, err) ? sources_unpacked(s, f->input, &mem, err) : NULL;
  const uint8_t *p = NULL;
  size_t n = 0;
  bool ok = in != NULL;
  while (ok && (p = in_ahead(in, 1, &n, err)) != NULL && n > 0) {
    ok = n <= tar_left(tar) ? tar_write(tar, p, n, err) : err_set(err, TK_EREAD, "%s: has changed since it was read", name);
    in_consume(in, n);
    ok = ok && !is_interrupted(progress, in, err);
  }
  in_close(in);
  if (ok && !p) return err_prefix(err, "%s", name);
  return ok && (tar_left(tar) == 0 || err_set(err, TK_EREAD, "%s: has changed since it was read", name));
}

bool manifest_write(struct manifest *m, struct tk_sources *s, const char *provenance, const struct tk_progress *progress,
                    struct tk_saved *saved, struct tk_err *err) {
  struct buf b = {.mem = &m->mem};
  struct tar *tar = tar_open(&m->out, err);
  choose_reference(m);
  bool ok =
      tar && put_manifest(&b, m, provenance, err) && tar_member(tar, MEMBER, b.len, err) && tar_write(tar, b.data, b.len, err);
  for (uint32_t i = 0; ok && i < m->n; i++) ok = copy_input(tar, s, &m->files[i], progress, err);
  ok = ok && tar_end(tar, err) && out_commit(&m->out, err);
  if (ok) {
    saved->raw_bytes = out_raw_bytes(&m->out);
    saved->bytes = out_file_bytes(&m->out);
  }
  tar_close(tar);
  buf_free(&b);
  return ok;
}
