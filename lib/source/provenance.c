/* provenance.c - see provenance.h. */
#include "provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json.h"

enum { END = 256 << 10, SMALL = 64 << 10 };

static int rank_order(const void *p, const void *q) {
  const int64_t a = *(const int64_t *)p, b = *(const int64_t *)q;
  return (a > b) - (a < b);
}

void provenance_put_ranks(int64_t *v, size_t n, struct buf *text) {
  char range[64];
  if (n) qsort(v, n, sizeof *v, rank_order);
  for (size_t i = 0, last; i < n; i = last + 1) {
    for (last = i; last + 1 < n && v[last + 1] - v[last] <= 1; last++) continue;
    const bool one = v[last] == v[i];
    snprintf(range, sizeof range, one ? "%s%lld" : "%s%lld-%lld", i ? ", " : "", (long long)v[i], (long long)v[last]);
    buf_text(text, range);
  }
}

/* Copies the last bytes of the input, followed by zeros. Returns their number; 0 if they are not at hand. */
static size_t copy_end(struct in *in, struct buf *copy) {
  static const uint8_t ZEROS[IN_PAD];
  const uint64_t size = in_raw_total(in);
  size_t n = 0;
  if (in_is_shared(in) && size > SMALL) {
    const size_t want = size < END ? (size_t)size : END;
    uint8_t *p = mem_array(copy->mem, want, 1);
    const ptrdiff_t got = p ? in_read_shared(in, p, want, size - want, NULL) : -1;
    if (got > 0 && buf_append(copy, p, (size_t)got)) n = (size_t)got;
    mem_free(copy->mem, p);
  } else {
    const uint8_t *p = in_ahead(in, SMALL, &n, NULL);
    if (!p || n > END || !buf_append(copy, p, n)) n = 0;
  }
  return buf_append(copy, ZEROS, sizeof ZEROS) ? n : 0;
}

/* Returns the last object of tracekit in p[0, n); NULL if there is none. */
static const uint8_t *last_object(const uint8_t *p, size_t n) {
  static const char BEGIN[] = "{\"version\":\"", COMMAND[] = "\",\"command\":\"tracekit ";
  const uint8_t *found = NULL, *end = p + n;
  for (const uint8_t *at = p; (at = memmem(at, (size_t)(end - at), BEGIN, sizeof BEGIN - 1)) != NULL; at++) {
    const uint8_t *quote = memchr(at + sizeof BEGIN - 1, '"', (size_t)(end - at) - (sizeof BEGIN - 1));
    if (quote && (size_t)(end - quote) > sizeof COMMAND && memcmp(quote, COMMAND, sizeof COMMAND - 1) == 0) found = at;
  }
  return found;
}

static bool rank_in(const char *text, size_t n, int64_t *rank) {
  struct json_value v;
  if (!json_member(text, n, "rank", &v) || v.type != JSON_NUMBER || v.num.kind != NUM_INT || v.num.mant < 0) return false;
  *rank = v.num.mant;
  return true;
}

static void list_ranks(const struct json_value *ranks, struct provenance *p) {
  struct json list = {.p = ranks->p + 1, .end = ranks->end, .last = true};
  struct buf numbers = {.mem = p->ranks.mem};
  struct json_value v;
  int64_t rank;
  while (json_blank(&list) && *list.p == '{' && json_value(&list, &v)) {
    if (rank_in((const char *)v.p, (size_t)(v.end - v.p), &rank)) buf_append(&numbers, &rank, sizeof rank);
    if (!json_blank(&list) || *list.p++ != ',') break;
  }
  provenance_put_ranks((int64_t *)(void *)numbers.data, numbers.len / sizeof rank, &p->ranks);
  buf_free(&numbers);
}

void provenance_find(struct in *in, struct provenance *p) {
  struct buf end = {.mem = p->ranks.mem}, object = {.mem = p->ranks.mem};
  struct json_value ranks;
  p->rank = -1;
  const size_t n = copy_end(in, &end);
  const uint8_t *at = n ? last_object(end.data, n) : NULL;
  struct json j = {.p = at, .end = end.data + n, .last = true, .scratch = {.mem = end.mem}};
  if (at && json_copy(&j, &object)) {
    const char *text = (const char *)object.data;
    if (json_member(text, object.len, "ranks", &ranks) && ranks.type == JSON_ARRAY) list_ranks(&ranks, p);
    else rank_in(text, object.len, &p->rank);
  }
  buf_free(&j.scratch);
  buf_free(&end);
  buf_free(&object);
}
