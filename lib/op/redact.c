/* redact.c - removes everything except timing from a graph.
 *
 *     kept        times, durations, nesting, flows, counters' values, categories, numbers of processes and threads, ranks
 *     changed     names (kept without paths and hosts, or hashed, or mapped), ids that are text
 *     removed     args not selected by --keep-args, records, top-level data, passthrough data, labels, tracekit's metadata
 *
 * Only data known to be harmless is kept; everything that this file does not handle is removed. Unused strings can stay in the string
 * table, because writers write only strings that events, tracks and metas refer to. */
#include "redact.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/utf8.h"
#include "format/json.h"
#include "graph/trace.h"
#include "graph/args.h"
#include "known.h"
#include "redact_list.h"

struct redactor {
  struct tk_trace *t;
  const struct redact_plan *plan;
  struct tk_redact_report *report;
  struct mem *mem;
  struct pseudonyms who;
  struct words words;
  struct map names, ids, id2s, hosts, cats; /* string id -> string id of its replacement */
  struct map wanted;                  /* key of an arg -> 1 if --keep-args does not select it, 2 if it does */
  struct map told;                    /* hash of a name in the user's map of names -> 1 + offset of the line with the name */
  struct buf text;
};

/* ---- words to remove everywhere ---- */

/* Adds the NAME in "/home/NAME/" and "/Users/NAME/" to the words to replace everywhere, because the name can also occur without the
 * path. */
static bool add_users(struct redactor *r) {
  static const char *const HOMES[] = {"/home/", "/Users/", "\\Users\\"};
  for (uint32_t i = 1; i <= r->t->store->strings.n; i++)
    for (size_t h = 0; h < sizeof HOMES / sizeof *HOMES; h++) {
      size_t n;
      const char *at = tk_string(r->t, i, &n), *end = at + n;
      while ((at = memmem(at, (size_t)(end - at), HOMES[h], strlen(HOMES[h]))) != NULL) {
        at += strlen(HOMES[h]);
        if (!words_add(&r->words, at, strcspn(at, "/\\ "), "user")) return false;
      }
    }
  return true;
}

static bool add_hosts(struct redactor *r) {
  const struct redact_plan *plan = r->plan;
  if (!words_add(&r->words, plan->host, strlen(plan->host), "host")) return false;
  for (tk_id i = 1; plan->origins && i <= r->t->n_tracks; i++) {
    const char *host = plan->origins[i].host;
    if (r->t->tracks[i].kind == TK_TRACK_PROCESS && !words_add(&r->words, host, strlen(host), "host")) return false;
  }
  return true;
}

/* ---- the list of changes ---- */

static struct redact_bytes redact_text_of(const struct redactor *r, tk_id id) {
  struct redact_bytes text;
  text.p = tk_string(r->t, id, &text.n);
  return text;
}

/* Adds `count` occurrences of string `id` to the list. `becomes`: its replacement; 0 = it was removed. */
static void list(struct redactor *r, enum redact_kind kind, tk_id id, tk_id becomes, uint64_t count) {
  if (!r->plan->opt->list) return;
  const struct redact_bytes after = redact_text_of(r, becomes);
  redact_list_note(r->plan->opt->list, kind, redact_text_of(r, id), becomes ? &after : NULL, count);
}

/* ---- texts ---- */

static tk_id made(struct redactor *r, const char *kind, tk_id id) {
  size_t n;
  const char *text = tk_string(r->t, id, &n);
  r->text.len = 0;
  return pseudonym_append(&r->who, &r->text, kind, text, n) ? trace_string(r->t, r->text.data, r->text.len) : 0;
}

static tk_id scrubbed(struct redactor *r, tk_id id) {
  size_t n;
  uint64_t found = 0;
  const char *text = tk_string(r->t, id, &n);
  r->text.len = 0;
  if (!pseudonym_scrub(&r->who, &r->text, text, n, &found)) return 0;
  r->report->paths_and_hosts += found != 0;
  return found ? trace_string(r->t, r->text.data, r->text.len) : id;
}

/* Returns the new name from the user's map, whose lines are "NAME<TAB>NEW"; NULL if the name is not in the map. */
static const char *line_of(const struct redactor *r, const char *name, size_t n, size_t *length) {
  const uint32_t *at = map_get(&r->told, hash_text(name, n));
  const char *line = at ? r->plan->opt->map + *at - 1 : NULL;
  if (!line || strncmp(line, name, n) != 0 || line[n] != '\t') return NULL;
  *length = strcspn(line + n + 1, "\r\n");
  return line + n + 1;
}

static bool read_map(struct redactor *r, struct tk_err *err) {
  const char *p = r->plan->opt->map;
  if (r->plan->opt->names != TK_REDACT_NAMES_MAP) return true;
  if (p && !utf8_valid((const uint8_t *)p, strlen(p))) return err_set(err, TK_EUSAGE, "map of replacement names: invalid UTF-8");
  for (unsigned line = 1; p && *p; line++) {
    size_t n = strcspn(p, "\n"), name = strcspn(p, "\t\n");
    if (n && name == n) return err_set(err, TK_EUSAGE, "map of replacement names, line %u: no tab between the name and its "
                                                       "replacement", line);
    if (n && !map_put(&r->told, hash_text(p, name), (uint32_t)(p - r->plan->opt->map) + 1)) return false;
    p += n + (p[n] == '\n');
  }
  return true;
}

static tk_id new_name(struct redactor *r, tk_id id) {
  size_t n, length;
  const char *text = tk_string(r->t, id, &n), *told = line_of(r, text, n, &length);
  if (told) return trace_string(r->t, told, length);
  if (r->plan->opt->names == TK_REDACT_NAMES_KEEP) return scrubbed(r, id);
  return known_name(text) ? id : made(r, "name", id);
}

static tk_id of_table(struct redactor *r, struct map *table, tk_id id, tk_id (*make)(struct redactor *r, tk_id id)) {
  const uint32_t *known = id ? map_get(table, id) : &id;
  if (known) return *known;
  tk_id becomes = make(r, id);
  map_put(table, id, becomes);
  return becomes;
}

static tk_id redact_name_of(struct redactor *r, tk_id id) { return of_table(r, &r->names, id, new_name); }

static tk_id new_id(struct redactor *r, tk_id id) { return known_number(tk_string(r->t, id, NULL)) ? id : made(r, "id", id); }
static tk_id id_of(struct redactor *r, tk_id id) { return of_table(r, &r->ids, id, new_id); }

/* Appends one member of an event's "id2" object. Numbers stay; other values are replaced by a pseudonym, which does not depend on the
 * key of the member. */
static void put_member(struct redactor *r, const char *key, const char *value, size_t n, bool number) {
  buf_text(&r->text, r->text.len ? ",\"" : "{\"");
  buf_text(&r->text, key);
  buf_text(&r->text, number ? "\":" : "\":\"");
  if (number) buf_append(&r->text, value, n);
  else pseudonym_append(&r->who, &r->text, "id", value, n);
  buf_text(&r->text, number ? "" : "\"");
}

static bool is_number_text(const char *p, size_t n) {
  char text[32];
  if (n >= sizeof text) return false;
  memcpy(text, p, n);
  text[n] = 0;
  return known_number(text);
}

/* Rebuilds {"local":"0x1"} or {"global":"0x1"}. The first member of the result must have the same key, because readers take the event's
 * identity from it. */
static tk_id new_id2(struct redactor *r, tk_id id) {
  static const char *const MEMBERS[] = {"local", "global"};
  size_t n;
  const char *text = tk_string(r->t, id, &n);
  struct json_value v;
  r->text.len = 0;
  for (size_t i = 0; i < 2; i++) {
    if (!json_member(text, n, MEMBERS[i], &v)) continue;
    const bool string = v.type == JSON_STRING;
    const char *value = string ? (const char *)v.str.p : (const char *)v.p;
    const size_t length = string ? v.str.n : (size_t)(v.end - v.p);
    if (string && is_number_text(value, length)) put_member(r, MEMBERS[i], (const char *)v.p, (size_t)(v.end - v.p), true);
    else put_member(r, MEMBERS[i], value, length, v.type == JSON_NUMBER);
  }
  if (!r->text.len) put_member(r, "global", text, n, false);
  buf_text(&r->text, "}");
  return trace_string(r->t, (const char *)r->text.data, r->text.len);
}

static tk_id id2_of(struct redactor *r, tk_id id) { return of_table(r, &r->id2s, id, new_id2); }
static tk_id new_host(struct redactor *r, tk_id id) { return *tk_string(r->t, id, NULL) ? made(r, "host", id) : id; }
static tk_id host_of(struct redactor *r, tk_id id) { return of_table(r, &r->hosts, id, new_host); }
static tk_id cat_of(struct redactor *r, tk_id id) { return of_table(r, &r->cats, id, scrubbed); }

/* ---- args ---- */

static bool redact_is_text(const struct tk_arg *arg) {
  return arg->type >= TK_ARG_STR && arg->type <= TK_ARG_REF && arg->type != TK_ARG_NUMBER;
}

/* Redacts an arg with a reserved key, which stores a field of the event itself. Returns false if the key is not reserved, or if the
 * value has an unexpected form. */
static bool keep_field(struct redactor *r, struct tk_arg *arg) {
  const char *key = tk_string(r->t, arg->key, NULL);
  if (!key_is_reserved(key)) return false;
  switch (arg->key) {
  case KEY_ID2:
    if (!redact_is_text(arg)) return true;
    arg->s = arg->type == TK_ARG_JSON ? id2_of(r, arg->s) : id_of(r, arg->s);
    return true;
  case KEY_ID: case KEY_BIND_ID: case KEY_SCOPE: case KEY_TID: case KEY_PID: case KEY_END_TID: case KEY_END_PID:
    if (redact_is_text(arg)) arg->s = id_of(r, arg->s);
    if (arg->type == TK_ARG_JSON) arg->type = TK_ARG_STR;
    return true;
  case KEY_END_NAME: case KEY_END_CAT:
    if (arg->type != TK_ARG_STR) return false;
    arg->s = arg->key == KEY_END_NAME ? redact_name_of(r, arg->s) : cat_of(r, arg->s);
    return true;
  case KEY_WEIGHT: return !redact_is_text(arg);
  case KEY_PH: case KEY_SCOPE_OF_INSTANT: case KEY_BP: case KEY_RESPELLED: case KEY_ARGS:
    return redact_is_text(arg) && known_field(arg->key, tk_string(r->t, arg->s, NULL));
  default: return !redact_is_text(arg) && known_numeric_field(key);
  }
}

static bool is_asked_for(struct redactor *r, tk_id key) {
  const char *const *globs = r->plan->opt->keep_args;
  uint32_t *known = map_put(&r->wanted, key, 0);
  if (!known) return false;
  if (!*known) {
    bool wanted = false;
    for (; globs && *globs; globs++) wanted = wanted || glob_matches(*globs, tk_string(r->t, key, NULL));
    *known = 1 + wanted;
  }
  return *known == 2;
}

static bool keep_arg(struct redactor *r, struct tk_arg *arg, bool sample) {
  if (keep_field(r, arg)) return true;
  if (key_is_reserved(tk_string(r->t, arg->key, NULL))) return false;
  if (is_asked_for(r, arg->key) || (r->plan->opt->keep_numbers && !redact_is_text(arg))) return true;
  if (!sample || (redact_is_text(arg) && !known_number(tk_string(r->t, arg->s, NULL)))) return false;
  arg->key = redact_name_of(r, arg->key);
  return true;
}

static void list_arg(struct redactor *r, const struct tk_arg *was, const struct tk_arg *is, bool sample) {
  const bool field = key_is_reserved(tk_string(r->t, was->key, NULL));
  const enum redact_kind kind = field ? REDACT_FIELD : sample && !is_asked_for(r, was->key) ? REDACT_SERIES : REDACT_ARG;
  list(r, is ? kind : field ? REDACT_FIELD : REDACT_ARG, was->key, is ? is->key : 0, 1);
  if (is && redact_is_text(was)) list(r, field ? REDACT_ID : REDACT_ARG_TEXT, was->s, is->s, 1);
}

static uint32_t redact_args(struct redactor *r, uint32_t args, bool sample) {
  struct tk_args it = tk_args_of(r->t, args);
  struct tk_arg arg;
  if (!it.shape) return args;
  args_begin(r->t);
  while (tk_args_next(&it, &arg)) {
    const struct tk_arg was = arg;
    const bool kept = keep_arg(r, &arg, sample);
    if (r->plan->opt->list) list_arg(r, &was, kept ? &arg : NULL, sample);
    if (kept) args_copy(r->t, &arg);
    else r->report->args++;
  }
  return args_end(r->t);
}

/* ---- the graph ---- */

static struct tk_ident redact_ident(struct redactor *r, struct tk_ident i) {
  const tk_id was = i.str;
  if (i.kind != TK_IDENT_STR) return i;
  i.str = id_of(r, was);
  list(r, REDACT_ID, was, i.str, 1);
  return i;
}

/* Returns the new name of a counter track: the redacted name and id of its samples. */
static tk_id name_of_counter(struct redactor *r, const struct tk_track *k) {
  const struct tk_event *e = &r->t->events[k->first];
  struct tk_arg id;
  if (!k->count) return redact_name_of(r, k->name);
  tk_id name = redact_name_of(r, r->t->classes[e->cls].name);
  if (!tk_args_find(r->t, e->args, "json.id", &id) || (id.type != TK_ARG_INT && id.type != TK_ARG_STR)) return name;
  if (id.type == TK_ARG_STR) id.s = id_of(r, id.s);
  return trace_counter_name(r->t, name, &id);
}

static void redact_tracks(struct redactor *r) {
  for (tk_id i = 1; i <= r->t->n_tracks; i++) {
    struct tk_track *k = &r->t->tracks[i];
    const struct tk_track was = *k;
    r->report->labels += k->labels != 0;
    k->pid = redact_ident(r, k->pid);
    k->tid = redact_ident(r, k->tid);
    k->name = k->kind == TK_TRACK_COUNTERS ? name_of_counter(r, k) : redact_name_of(r, k->name);
    k->machine = host_of(r, k->machine);
    k->labels = 0;
    k->renamed = k->renamed || k->kind == TK_TRACK_PROCESS || k->kind == TK_TRACK_THREAD;
    if (was.name) list(r, REDACT_TRACK, was.name, k->name, 1);
    if (was.machine) list(r, REDACT_HOST, was.machine, k->machine, 1);
    if (was.labels) list(r, REDACT_LABEL, was.labels, 0, 1);
  }
}

static void redact_events(struct redactor *r) {
  struct tk_trace *t = r->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    uint32_t args = redact_args(r, t->events[i].args, t->events[i].kind == TK_EVENT_COUNTER);
    t->events[i].args = args;
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    uint32_t args = redact_args(r, t->flow_points[i].args, false);
    t->flow_points[i].args = args;
    if (t->flow_points[i].id_kind != TK_FLOW_ID_STR) continue;
    const tk_id id = (tk_id)t->flow_points[i].id;
    t->flow_points[i].id = id_of(r, id);
    list(r, REDACT_ID, id, (tk_id)t->flow_points[i].id, 1);
  }
}

static tk_id file_of(struct redactor *r, tk_id id) { return id ? made(r, "file", id) : 0; }

static void redact_frames(struct redactor *r) {
  for (tk_id i = 1; i <= r->t->n_frames; i++) {
    struct tk_frame *f = &r->t->frames[i];
    *f = (struct tk_frame){redact_name_of(r, f->name), file_of(r, f->module), file_of(r, f->file), 0, 0};
  }
}

static void redact_classes(struct redactor *r) {
  struct tk_trace *t = r->t;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    tk_id name = t->classes[i].name, becomes = redact_name_of(r, name);
    uint32_t args = redact_args(r, t->classes[i].args, false);
    r->report->names += name != becomes;
    t->classes[i] = (struct tk_class){.name = becomes, .cat = cat_of(r, t->classes[i].cat), .args = args,
                                      .stack = t->classes[i].stack, .unit = t->classes[i].unit};
  }
}

/* Adds the original names and categories to the list, with the number of events and flow points that have them. */
static void list_classes(struct redactor *r) {
  const struct tk_trace *t = r->t;
  uint64_t *uses = r->plan->opt->list ? mem_zeros(r->mem, (uint64_t)t->n_classes + 1, sizeof *uses) : NULL;
  if (!uses) return;
  for (tk_id i = 1; i <= t->n_events; i++) uses[t->events[i].cls]++;
  for (tk_id i = 1; i <= t->n_flow_points; i++) uses[t->flow_points[i].cls]++;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const struct tk_class c = t->classes[i];
    if (c.name) list(r, REDACT_NAME, c.name, redact_name_of(r, c.name), uses[i]);
    if (c.cat) list(r, REDACT_CATEGORY, c.cat, cat_of(r, c.cat), uses[i]);
  }
  mem_free(r->mem, uses);
}

/* ---- top-level data ---- */

/* Copies a metadata number, such as the rank or the number of ranks. */
static void redact_put_number(struct buf *b, const struct tk_trace *t, const struct tk_meta *m, const char *key) {
  struct json_value v;
  if (!json_member(trace_raw(t, m->at), m->size, key, &v) || v.type != JSON_NUMBER) return;
  buf_text(b, b->len > 1 ? ",\"" : "\"");
  buf_text(b, key);
  buf_text(b, "\":");
  buf_append(b, v.p, (size_t)(v.end - v.p));
}

static void add_meta(struct redactor *r, struct tk_meta m) {
  struct buf *raw = &r->t->store->raw;
  m.at = raw->len;
  m.size = r->text.len;
  buf_append(raw, r->text.data, r->text.len);
  trace_end_raw(r->t);
  r->t->metas[++r->t->n_metas] = m;
}

/* Writes the ranks of a merged trace, each with its processes. */
static void put_ranks(struct redactor *r) {
  const struct track_origin *of = r->plan->origins;
  struct tk_trace *t = r->t;
  char number[24];
  int64_t last = -1;
  for (tk_id i = 1; of && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || of[i].rank < 0 || k->pid.kind != TK_IDENT_INT) continue;
    bool same = last == of[i].rank;
    buf_text(&r->text, !r->text.len ? "{\"ranks\":[" : same ? "" : "}},");
    if (!same) {
      buf_text(&r->text, "{\"rank\":");
      buf_append(&r->text, number, num_put_i64(number, of[i].rank));
      buf_text(&r->text, ",\"host\":\"");
      size_t n = strlen(of[i].host);
      if (n) pseudonym_append(&r->who, &r->text, "host", of[i].host, n);
      buf_text(&r->text, "\",\"pids\":{");
    } else {
      buf_text(&r->text, ",");
    }
    last = of[i].rank;
    buf_text(&r->text, "\"");
    buf_append(&r->text, number, num_put_i64(number, k->pid.num));
    buf_text(&r->text, "\":");
    buf_append(&r->text, number, num_put_i64(number, k->pid.num));
  }
  if (r->text.len) buf_text(&r->text, "}}]}");
}

static bool is_merged(const struct tk_trace *t) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value v;
  return m && json_member(trace_raw(t, m->at), m->size, "ranks", &v);
}

/* Adds a top-level key to the list, and also its value if both are kept. */
static void list_meta(struct redactor *r, const struct tk_meta *m, bool kept) {
  const struct redact_bytes key = redact_text_of(r, m->key), value = {trace_raw(r->t, m->at), m->size};
  if (!r->plan->opt->list) return;
  redact_list_note(r->plan->opt->list, m->origin ? REDACT_BLOCK : REDACT_TOP_LEVEL, key, kept ? &key : NULL, 1);
  if (kept) redact_list_note(r->plan->opt->list, REDACT_TOP_LEVEL, value, &value, 1);
}

static void redact_metas(struct redactor *r) {
  struct tk_trace *t = r->t;
  bool merged = is_merged(t);
  tk_id n = t->n_metas;
  t->n_metas = 0;
  for (tk_id i = 1; i <= n; i++) {
    struct tk_meta m = t->metas[i];
    const char *key = tk_string(t, m.key, NULL);
    const bool known = !m.origin && known_meta(key, trace_raw(t, m.at), m.size);
    r->text.len = 0;
    list_meta(r, &m, known);
    if (known) {
      t->metas[++t->n_metas] = m;
      continue;
    }
    r->report->blocks += m.origin != NULL;
    r->report->metas += m.origin == NULL;
    if (m.origin) continue;
    if (strcmp(key, "tracekit") == 0 && merged) put_ranks(r);
    if (strcmp(key, "distributedInfo") == 0 && !merged) {
      buf_text(&r->text, "{");
      redact_put_number(&r->text, t, &m, "rank");
      redact_put_number(&r->text, t, &m, "world_size");
      buf_text(&r->text, "}");
    }
    if (r->text.len) add_meta(r, m);
  }
}

static void redact_rest(struct redactor *r) {
  struct tk_trace *t = r->t;
  const struct redact_bytes records = {"", 0};
  r->report->records += t->n_records;
  redact_list_note(r->plan->opt->list, REDACT_RECORD, records, NULL, t->n_records);
  t->n_records = 0;
  r->text.len = 0;
  if (*r->plan->host) pseudonym_append(&r->who, &r->text, "host", r->plan->host, strlen(r->plan->host));
  const tk_id host = trace_string(t, r->text.data, r->text.len);
  if (*r->plan->host) list(r, REDACT_HOST, trace_text(t, r->plan->host), host, 1);
  t->host = tk_string(t, host, NULL);
  t->edits |= TK_EDIT_DROPPED | TK_EDIT_RENAMED;
}

static struct siphash_key redact_key_of(const struct tk_redact_options *opt) {
  if (opt->key) return siphash_key_of(opt->key, strlen(opt->key));
  return (struct siphash_key){{hash_secret[0], hash_secret[1]}};
}

bool redact_outside(const struct tk_redact_options *opt, const char *kind, const char *text, struct buf *b) {
  struct words none;
  const struct pseudonyms who = {redact_key_of(opt), &none};
  const bool name = strcmp(kind, "name") == 0;
  const size_t n = strlen(text), before = b->len;
  uint64_t found = 0;
  words_init(&none, b->mem);
  if (n == 0 || (name && known_name(text))) buf_append(b, text, n);
  else if (name && opt->names == TK_REDACT_NAMES_KEEP) pseudonym_scrub(&who, b, text, n, &found);
  else pseudonym_append(&who, b, kind, text, n);
  const struct redact_bytes was = {text, n}, is = {(const char *)b->data + before, b->len - before};
  if (n && !name) redact_list_note(opt->list, *kind == 'h' ? REDACT_HOST : *kind == 'g' ? REDACT_GROUP : REDACT_INPUT, was, &is, 1);
  return !b->mem->failed;
}

void redact_run(const struct tk_redact_options *opt, const char *run, char *to, size_t size) {
  if (!opt || !run[strspn(run, "0123456789_-.:")]) snprintf(to, size, "%s", run);
  else snprintf(to, size, "run-%016llx", (unsigned long long)siphash(redact_key_of(opt), run, strlen(run)));
}

bool op_redact(struct tk_trace *t, const struct redact_plan *plan, struct tk_redact_report *report, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct redactor r = {.t = t, .plan = plan, .report = report, .mem = mem, .text = {.mem = mem}};
  r.who.key = redact_key_of(plan->opt);
  struct map *const maps[] = {&r.names, &r.ids, &r.id2s, &r.hosts, &r.cats, &r.wanted, &r.told};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_init(maps[i], mem);
  words_init(&r.words, mem);
  r.who.words = &r.words;
  bool ok = read_map(&r, err) && add_hosts(&r) && add_users(&r);
  if (ok) {
    list_classes(&r);
    redact_tracks(&r); /* must be first: the names of counter tracks are derived from their samples, which redact_events changes */
    redact_events(&r);
    redact_classes(&r);
    redact_frames(&r);
    redact_metas(&r);
    redact_rest(&r);
  }
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_free(maps[i]);
  words_free(&r.words);
  buf_free(&r.text);
  if (!ok && err->code != TK_OK) return false;
  return mem_check(mem, err);
}
