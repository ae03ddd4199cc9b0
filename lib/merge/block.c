/* block.c - prints the block that describes a rank: its identity, the new pids of its processes, its own top-level keys, and
 * records of its processes that are not on the timeline. */
#include "block.h"

#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "format/json.h"
#include "source/identity.h"

static void print_int(struct buf *b, int64_t v) {
  char text[24];
  buf_append(b, text, num_put_i64(text, v));
}

static void print_ident(struct buf *b, const struct tk_trace *t, struct tk_ident i, bool as_key) {
  char text[24];
  size_t n = 0;
  const char *s = i.kind == TK_IDENT_STR ? tk_string(t, i.str, &n) : text;
  if (i.kind == TK_IDENT_INT || i.kind == TK_IDENT_QUOTED) n = num_put_i64(text, i.num);
  if (i.kind == TK_IDENT_INT && !as_key) buf_append(b, text, n);
  else json_quote(b, s, n);
}

static void print_recordings(struct buf *b, const struct tk_merge_rank *r, bool nameless) {
  if (!nameless && utf8_valid((const uint8_t *)r->recordings, strlen(r->recordings))) {
    buf_text(b, ",\"recordings\":");
    json_quote(b, r->recordings, strlen(r->recordings));
  }
  buf_text(b, ",\"duplicates\":");
  print_int(b, (int64_t)r->duplicates);
}

static void print_rank(struct buf *b, const struct tk_merge_rank *r, bool nameless) {
  const char *input = nameless ? "" : path_leaf(r->input);
  if (!utf8_valid((const uint8_t *)input, strlen(input))) input = "?";
  buf_text(b, b->len ? ",\n{\"rank\":" : "{\"rank\":");
  print_int(b, r->rank);
  if (strcmp(r->rank_from, IDENTITY_GIVEN) == 0) buf_text(b, ",\"rank_from\":\"" IDENTITY_GIVEN "\"");
  buf_text(b, ",\"host\":");
  json_quote(b, r->host, strlen(r->host));
  buf_text(b, ",\"input\":");
  json_quote(b, input, strlen(input));
  if (r->recordings) print_recordings(b, r, nameless);
  buf_text(b, ",\"shift_ns\":");
  print_int(b, r->shift_ns);
  buf_text(b, ",\"events\":");
  print_int(b, (int64_t)r->events);
}

static void print_pids(struct buf *b, const struct merge_block *block) {
  const struct tk_trace *t = block->trace;
  buf_text(b, ",\"pids\":{");
  for (uint32_t i = 0; i < block->rank->processes; i++) {
    if (i) buf_text(b, ",");
    print_ident(b, t, block->was[i].was, true);
    buf_text(b, ":");
    print_ident(b, t, t->tracks[block->was[i].track].pid, false);
  }
  buf_text(b, "}");
}

/* Prints top-level keys of an input: "tracekit" if `ours` is set, the other keys if `theirs` is set. Not used for the other keys of the
 * first rank: these are top-level keys of the output, where "tracekit" describes the merge. */
static const char *print_keys(struct buf *b, const struct tk_trace *t, bool theirs, bool ours, const char *comma) {
  for (tk_id i = 1; i <= t->n_metas; i++) {
    size_t n;
    const char *key = tk_string(t, t->metas[i].key, &n);
    bool wanted = strcmp(key, "tracekit") == 0 ? ours : theirs;
    if (t->metas[i].origin || !wanted) continue;
    buf_text(b, comma);
    json_quote(b, key, n);
    buf_text(b, ":");
    buf_append(b, trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    comma = ",";
  }
  return comma;
}

/* Prints a record that is not on the timeline, with its process and thread. */
static void print_hidden_record(struct buf *b, const struct tk_trace *t, const struct tk_record *r) {
  const struct tk_track *k = &t->tracks[r->track];
  buf_text(b, "{");
  buf_append(b, trace_raw(t, r->at), r->size);
  buf_text(b, r->size ? ",\"pid\":" : "\"pid\":");
  print_ident(b, t, k->pid, false);
  if (k->kind != TK_TRACK_PROCESS) {
    buf_text(b, ",\"tid\":");
    print_ident(b, t, k->tid, false);
  }
  buf_text(b, "}");
}

static void print_hidden(struct buf *b, const struct tk_trace *t) {
  const char *comma = "";
  buf_text(b, ",\"records\":[");
  for (tk_id i = 1; i <= t->n_records; i++) {
    const struct tk_record *r = &t->records[i];
    const struct tk_track *k = &t->tracks[r->track];
    if (!r->track || !(k->hidden || t->tracks[k->parent].hidden)) continue;
    buf_text(b, comma);
    print_hidden_record(b, t, r);
    comma = ",";
  }
  buf_text(b, "]");
}

void merge_block_print(struct buf *to, const struct merge_block *block) {
  const struct tk_trace *t = block->trace;
  print_rank(to, block->rank, block->nameless);
  if (t) {
    print_pids(to, block);
    if (block->machine) {
      buf_text(to, ",\"machine\":");
      json_quote(to, block->machine, strlen(block->machine));
    }
    if (!block->first || trace_meta(t, "tracekit")) {
      buf_text(to, ",\"meta\":{");
      print_keys(to, t, !block->first, true, "");
      buf_text(to, "}");
    }
    print_hidden(to, t);
  }
  if (block->account) buf_text(to, block->account);
  buf_text(to, "}");
}

/* ---- ranks of a merged trace ---- */

static bool is_pid(const struct tk_trace *t, const struct tk_ident *was, const struct json_value *v) {
  size_t n;
  if (v->type == JSON_NUMBER) return v->num.kind == NUM_INT && was->kind == TK_IDENT_INT && v->num.mant == was->num;
  if (v->type != JSON_STRING) return false;
  struct buf text = {.mem = &t->store->mem};
  print_ident(&text, t, *was, true);
  n = (size_t)(v->end - v->p);
  bool same = text.len == n && memcmp(text.data, v->p, n) == 0;
  buf_free(&text);
  return same;
}

/* Prints the new pids of a rank; processes without events are dropped. */
static void print_new_pids(struct buf *b, const struct merge_block *block, const struct json_value *pids) {
  const struct tk_trace *t = block->trace;
  struct json j = {.p = pids->p + 1, .end = pids->end, .last = true};
  struct json_string key;
  struct json_value v;
  const char *comma = "";
  buf_text(b, "{");
  while (json_blank(&j) && *j.p != '}' && json_key(&j, &key) && json_value(&j, &v)) {
    for (uint32_t i = 0; i < block->rank->processes; i++) {
      if (!is_pid(t, &block->was[i].was, &v)) continue;
      buf_text(b, comma);
      buf_append(b, key.p - 1, key.n + 2);
      buf_text(b, ":");
      print_ident(b, t, t->tracks[block->was[i].track].pid, false);
      comma = ",";
      break;
    }
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  buf_text(b, "}");
}

static bool is_key(const struct json_string *key, const char *name) {
  return key->n == strlen(name) && memcmp(key->p, name, key->n) == 0;
}

static void print_member(struct buf *b, const struct merge_block *block, const struct json_string *key, const struct json_value *v) {
  int64_t shift;
  buf_append(b, key->p - 1, key->n + 2);
  buf_text(b, ":");
  if (is_key(key, "pids") && v->type == JSON_OBJECT)
    print_new_pids(b, block, v);
  else if (is_key(key, "shift_ns") && v->type == JSON_NUMBER && v->num.kind == NUM_INT &&
           !__builtin_add_overflow(v->num.mant, block->rank->shift_ns, &shift))
    print_int(b, shift);
  else
    buf_append(b, v->p, (size_t)(v->end - v->p));
}

/* Prints `own`, a rank's block in a merged trace. `keys`: true to add the trace's own top-level keys to it. */
static void print_merged_rank(struct buf *b, const struct merge_block *block, const struct json_value *own, bool keys) {
  struct json j = {.p = own->p + 1, .end = own->end, .last = true};
  struct json_string key;
  struct json_value v;
  const char *comma = "";
  buf_text(b, b->len ? ",\n{" : "{");
  while (json_blank(&j) && *j.p != '}' && json_key(&j, &key) && json_value(&j, &v)) {
    buf_text(b, comma);
    comma = ",";
    if (keys && is_key(&key, "meta") && v.type == JSON_OBJECT) {
      buf_text(b, "\"meta\":{");
      const char *behind = print_keys(b, block->trace, true, false, "");
      if (v.end - v.p > 2) buf_text(b, behind);
      buf_append(b, v.p + 1, (size_t)(v.end - v.p - 1));
      keys = false;
    } else {
      print_member(b, block, &key, &v);
    }
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  if (keys) {
    buf_text(b, ",\"meta\":{");
    print_keys(b, block->trace, true, false, "");
    buf_text(b, "}");
  }
  buf_text(b, "}");
}

uint32_t merge_block_print_ranks(struct buf *to, const struct merge_block *block) {
  const struct tk_meta *m = trace_meta(block->trace, "tracekit");
  struct json_value ranks, own;
  uint32_t n = 0;
  if (!m || !json_member(trace_raw(block->trace, m->at), m->size, "ranks", &ranks) || ranks.type != JSON_ARRAY) return 0;
  struct json j = {.p = ranks.p + 1, .end = ranks.end, .last = true};
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &own)) {
    print_merged_rank(to, block, &own, n++ == 0 && !block->first);
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  return n;
}
