/* merge_block.c - prints the block of a rank: who it is, which pids its processes were given, its own top-level keys, and the records
 * of its processes that are left out of the timeline. */
#include "merge_block.h"

#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "format/json.h"

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

static void print_rank(struct buf *b, const struct tk_merge_rank *r, bool nameless) {
  const char *input = nameless ? "" : path_leaf(r->input);
  if (!utf8_valid((const uint8_t *)input, strlen(input))) input = "?";
  buf_text(b, b->len ? ",\n{\"rank\":" : "{\"rank\":");
  print_int(b, r->rank);
  buf_text(b, ",\"host\":");
  json_quote(b, r->host, strlen(r->host));
  buf_text(b, ",\"input\":");
  json_quote(b, input, strlen(input));
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

/* The keys of the first rank stand at the top, where the merge itself speaks as "tracekit". */
static void print_metas(struct buf *b, const struct tk_trace *t, bool first) {
  const char *comma = "";
  buf_text(b, ",\"meta\":{");
  for (tk_id i = 1; i <= t->n_metas; i++) {
    size_t n;
    const char *key = tk_string(t, t->metas[i].key, &n);
    if (t->metas[i].origin || (first && strcmp(key, "tracekit") != 0)) continue;
    buf_text(b, comma);
    json_quote(b, key, n);
    buf_text(b, ":");
    buf_append(b, trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    comma = ",";
  }
  buf_text(b, "}");
}

/* A record that is left out says which process and thread it was of. */
static void print_hidden_record(struct buf *b, const struct tk_trace *t, const struct tk_record *r) {
  const struct tk_track *k = &t->tracks[r->track];
  buf_text(b, "{");
  buf_append(b, trace_raw(t, r->at), r->size);
  buf_text(b, r->size ? ",\"pid\":" : "\"pid\":");
  print_ident(b, t, k->pid, false);
  if (k->kind != TK_PROCESS) {
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
    if (!block->first || trace_meta(t, "tracekit")) print_metas(to, t, block->first);
    print_hidden(to, t);
  }
  buf_text(to, "}");
}
