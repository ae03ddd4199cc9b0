/* offsets.c - reads a report on clocks (offsets.h).
 *
 * A report describes each clock's offset over time by pieces, which are line segments. If the clock was set between two pieces, there
 * is a gap, and the curve connects the end of the first piece to the start of the second. */
#include "offsets.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "format/json.h"
#include "io/in.h"

/* ---- JSON ---- */

/* Returns the JSON text of an object or array. */
static const char *offsets_text_of(const struct json_value *v, size_t *n) {
  *n = (size_t)(v->end - v->p);
  return (const char *)v->p;
}

static bool member(const struct json_value *object, const char *key, enum json_type type, struct json_value *v) {
  size_t n;
  const char *text = offsets_text_of(object, &n);
  return object->type == JSON_OBJECT && json_member(text, n, key, v) && v->type == type;
}

/* Limits for times (126 years) and offsets (63 years), ns. */
static const int64_t MOST_TIME = 4000000000000000000, MOST_OFFSET = 2000000000000000000;

static bool integer(const struct json_value *object, const char *key, int64_t most, int64_t *out) {
  struct json_value v;
  i128 whole;
  if (!member(object, key, JSON_NUMBER, &v) || !num_scaled(v.p, v.end, 0, &whole)) return false;
  if (whole > most || whole < -most) return false;
  *out = (int64_t)whole;
  return true;
}

static double number(const struct json_value *object, const char *key) {
  struct json_value v;
  i128 micro;
  return member(object, key, JSON_NUMBER, &v) && num_scaled(v.p, v.end, 6, &micro) ? i128_double(micro) / 1e6 : 0;
}

/* Reads the next value of an array; the text begins after the opening bracket. Returns false at the end of the array. */
static bool next(struct json *j, struct json_value *v) {
  if (!json_blank(j) || *j->p == ']') return false;
  if (*j->p == ',') j->p++;
  return json_blank(j) && json_value(j, v);
}

static struct json values_of(const struct json_value *array) {
  return (struct json){.p = array->p + 1, .end = array->end, .last = true};
}

/* ---- one host ---- */

static void add_knot(struct curve *c, double x, double y) {
  if (c->n == CURVE_KNOTS || (c->n && x <= c->x[c->n - 1])) return;
  c->x[c->n] = x;
  c->y[c->n++] = y;
}

/* True if corrected time never goes backwards. This holds for all reports that tracekit writes. */
static bool is_monotone(const struct curve *c) {
  for (uint32_t i = 1; i < c->n; i++)
    if (!(c->y[i] - c->y[i - 1] < c->x[i] - c->x[i - 1])) return false;
  return true;
}

static bool take_pieces(struct align_map *m, const struct json_value *pieces) {
  struct json j = values_of(pieces);
  struct json_value v;
  for (bool first = true; next(&j, &v); first = false) {
    int64_t from, to, offset;
    if (!integer(&v, "from_ns", MOST_TIME, &from) || !integer(&v, "to_ns", MOST_TIME, &to) || to < from) return false;
    if (!integer(&v, "offset_ns", MOST_OFFSET, &offset)) return false;
    if (first) m->pivot_ns = from, m->offset_ns = offset;
    double half = ((double)to - (double)from) / 2, bend = number(&v, "drift_ppm") * 1e-6 * half;
    double x = (double)(from - m->pivot_ns), y = (double)(offset - m->offset_ns);
    if (half == 0) bend = 0;
    add_knot(&m->curve, x, y - bend);
    if (bend != 0 || m->curve.n > 1 || !json_blank(&j) || *j.p == ',') add_knot(&m->curve, x + 2 * half, y + bend);
  }
  return is_monotone(&m->curve);
}

static bool take_map(struct align_map *m, const struct json_value *host) {
  const double line = 1e9, most = 5e5; /* line: length of the line between two points, ns; most: limit for the drift, ppm, far beyond
                                        * that of any real clock */
  struct json_value pieces;
  double drift = number(host, "drift_ppm");
  *m = (struct align_map){.pivot_ns = 0};
  if (!integer(host, "offset_ns", MOST_OFFSET, &m->offset_ns) || !(fabs(drift) < most)) return false;
  bool at = integer(host, "at_ns", MOST_TIME, &m->pivot_ns);
  if (member(host, "pieces", JSON_ARRAY, &pieces) && pieces.end - pieces.p > 2) return take_pieces(m, &pieces);
  if (!at || drift == 0) return true;
  add_knot(&m->curve, 0, 0);
  add_knot(&m->curve, line, drift * 1e-6 * line);
  return true;
}

static bool take_ranks(struct merge_offsets *o, struct merge_offset *h, const struct json_value *host) {
  struct json_value list, v;
  int64_t *ranks = arena_alloc(&o->arena, ((size_t)(host->end - host->p) + 1) * sizeof *ranks);
  if (!ranks) return false;
  h->ranks = ranks;
  if (integer(host, "rank", INT64_MAX, &ranks[0])) {
    h->n_ranks = 1;
    return true;
  }
  if (!member(host, "ranks", JSON_ARRAY, &list)) return true;
  for (struct json j = values_of(&list); next(&j, &v);)
    if (v.type == JSON_NUMBER && v.num.kind == NUM_INT) ranks[h->n_ranks++] = v.num.mant;
  return true;
}

static bool take_host(struct merge_offsets *o, const struct json_value *v, const char **why) {
  struct mem *mem = o->arena.mem;
  struct json j = {.scratch = {.mem = mem}};
  struct json_value name;
  size_t n = 0;
  *why = "a host has no offset_ns, or invalid pieces";
  if (!mem_grow(mem, (void **)&o->v, &o->cap, (uint64_t)o->n + 1, sizeof *o->v)) return false;
  struct merge_offset *h = &o->v[o->n++];
  *h = (struct merge_offset){.host = ""};
  if (!take_map(&h->map, v) || !take_ranks(o, h, v)) return false;
  const uint8_t *text = member(v, "host", JSON_STRING, &name) ? json_string_text(&j, &name.str, &n) : NULL;
  char *copy = arena_alloc(&o->arena, n + 1);
  if (copy) memcpy(copy, text ? text : (const uint8_t *)"", n), copy[n] = 0;
  buf_free(&j.scratch);
  if (!copy) return false;
  h->host = copy;
  *why = "a host has neither a name nor ranks";
  return h->n_ranks || n;
}

/* ---- entry points ---- */

/* Finds the list of hosts. The report may be nested in other objects of the file. */
static bool find_hosts(const char *text, size_t n, struct json_value *hosts) {
  struct json_value v;
  if (json_member(text, n, "tracekit", &v) && v.type == JSON_OBJECT) text = offsets_text_of(&v, &n);
  if (json_member(text, n, "align", &v) && v.type == JSON_OBJECT) text = offsets_text_of(&v, &n);
  return json_member(text, n, "hosts", hosts) && hosts->type == JSON_ARRAY;
}

static bool take_hosts(struct merge_offsets *o, const struct buf *text, struct tk_err *err) {
  struct json_value hosts, v;
  const char *why = NULL;
  if (text->len < 2 || *text->data != '{' || !find_hosts((const char *)text->data, text->len, &hosts))
    return err_set(err, TK_EFORMAT, "not an alignment report: no list of hosts");
  for (struct json j = values_of(&hosts); next(&j, &v);)
    if (!take_host(o, &v, &why)) return mem_check(o->arena.mem, err) && err_set(err, TK_EFORMAT, "%s", why);
  return true;
}

/* Reads the file and converts it to compact, strict JSON, as json_member requires. */
static bool read_text(const char *path, struct buf *raw, struct buf *text, struct tk_err *err) {
  struct in *in = in_open(path, 0, raw->mem, err);
  const uint8_t *p;
  size_t n;
  while (in && (p = in_ahead(in, 1, &n, err)) != NULL && n > 0) {
    buf_append(raw, p, n);
    in_consume(in, n);
  }
  if (in) in_close(in);
  if (err->code != TK_OK) return false;
  size_t len = raw->len;
  buf_append(raw, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
  if (!mem_check(raw->mem, err)) return false;
  struct json j = {.p = raw->data, .end = raw->data + len, .last = true, .scratch = {.mem = raw->mem}};
  bool ok = json_blank(&j) && json_copy(&j, text);
  buf_append(text, "\0\0\0\0\0\0\0\0", 8);
  text->len -= 8;
  buf_free(&j.scratch);
  return ok || err_set(err, TK_EFORMAT, "invalid JSON: %s", j.why ? j.why : "empty file");
}

bool merge_offsets_read(struct merge_offsets *o, const char *path, struct tk_err *err) {
  struct buf raw = {.mem = o->arena.mem}, text = {.mem = o->arena.mem};
  bool ok = read_text(path, &raw, &text, err) && take_hosts(o, &text, err);
  buf_free(&raw);
  buf_free(&text);
  return ok || err_prefix(err, "%s", path);
}

void merge_offsets_free(struct merge_offsets *o) {
  mem_free(o->arena.mem, o->v);
  arena_free(&o->arena);
  o->v = NULL;
  o->n = o->cap = 0;
}

const struct align_map *merge_offsets_of(const struct merge_offsets *o, const char *host, const char *input, int64_t rank) {
  for (uint32_t i = 0; i < o->n; i++) {
    const struct merge_offset *h = &o->v[i];
    for (uint32_t k = 0; k < h->n_ranks; k++)
      if (h->ranks[k] == rank) return &h->map;
    if (h->n_ranks || !*h->host) continue;
    if (strcmp(h->host, host) == 0 || path_ends(input, h->host)) return &h->map;
  }
  return NULL;
}
