/* collectives.c - writes tables and flows of collectives (collectives.h). */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "base/utf8.h"
#include "format/json.h"
#include "graph/kind.h"
#include "graph/kind_collective.h"
#include "graph/seal.h"
#include "align.h"
#include "op/redact.h"

/* ---- rows ---- */

void merge_collectives_free(struct merge_collectives *c, struct mem *mem) {
  mem_free(mem, c->v);
  mem_free(mem, c->pairs);
  if (c->texts.mem) intern_free(&c->texts);
  *c = (struct merge_collectives){.n = 0};
}

static int64_t collectives_rank_of(const struct merge_who *who, const struct merge_meeting *m) {
  return who[m->input].merged ? (int64_t)m->device - 1 : who[m->input].rank;
}

static uint32_t device_of(const struct merge_who *who, const struct merge_meeting *m) { return who[m->input].merged ? 0 : m->device; }

/* Returns the end of the range of rows that belong to the collective beginning at `from`. */
static uint32_t collectives_end_of(const struct merge_collectives *c, uint32_t from) {
  uint32_t to = from;
  while (to < c->n && c->v[to].collective == c->v[from].collective) to++;
  return to;
}

/* ---- the last rank ---- */

struct tally {
  int64_t rank, lost_ns;
  uint64_t last;
};

static struct tally *tally_of(struct map *index, struct tally **v, uint32_t *n, uint32_t *cap, int64_t rank) {
  uint32_t *at = map_put(index, (uint64_t)rank, UINT32_MAX);
  if (!at || (*at == UINT32_MAX && !mem_grow(index->mem, (void **)v, cap, (uint64_t)*n + 1, sizeof **v))) return NULL;
  if (*at == UINT32_MAX) (*v)[*at = (*n)++] = (struct tally){.rank = rank};
  return &(*v)[*at];
}

/* Finds the rank that delayed the others most. The cost of the last rank in a collective is the time from the arrival of the
 * next-to-last rank to its own arrival; the costs of each rank are summed over all collectives. */
void merge_collectives_sum_up(const struct merge_collectives *c, const struct merge_who *who, struct tk_collectives *sum,
                              struct mem *mem) {
  struct map index, steps;
  struct tally *v = NULL, *worst = NULL;
  uint32_t n = 0, cap = 0;
  map_init(&index, mem);
  map_init(&steps, mem);
  *sum = (struct tk_collectives){.n = c->n_collectives};
  for (uint32_t i = 0, k; i < c->n; i = k) {
    k = collectives_end_of(c, i);
    const struct merge_meeting *last = &c->v[k - 1];
    struct tally *t = tally_of(&index, &v, &n, &cap, collectives_rank_of(who, last));
    if (!t) break;
    t->last++;
    t->lost_ns += last->start_ns - c->v[k - 2].start_ns;
    if (last->stepped) map_put(&steps, (uint64_t)last->step, 1);
  }
  for (uint32_t i = 0; i < n; i++)
    if (!worst || v[i].lost_ns > worst->lost_ns) worst = &v[i];
  if (worst) {
    sum->rank = worst->rank;
    sum->last = worst->last;
    sum->lost_us = (double)worst->lost_ns / 1e3;
    sum->steps = steps.n;
  }
  map_free(&index);
  map_free(&steps);
  mem_free(mem, v);
}

void merge_collectives_tally(const struct merge_collectives *c, struct merge_tally *v) {
  for (uint32_t i = 0, k; i < c->n; i = k) {
    k = collectives_end_of(c, i);
    const struct merge_meeting *last = &c->v[k - 1];
    for (uint32_t m = i; m < k; m++) {
      v[c->v[m].input].met++;
      v[c->v[m].input].wait_ns += last->start_ns - c->v[m].start_ns;
    }
    v[last->input].last++;
    v[last->input].cost_ns += last->start_ns - c->v[k - 2].start_ns;
  }
}

/* ---- tables ---- */

static void put(struct out *o, const char *text) { out_write(o, text, strlen(text)); }

static void put_int(struct out *o, int64_t v) {
  char text[24];
  out_write(o, text, num_put_i64(text, v));
}

/* Prints ns as microseconds with three decimals. */
static void put_us(struct out *o, i128 ns) {
  char rest[5] = {'.', (char)('0' + (ns < 0 ? -ns : ns) / 100 % 10), (char)('0' + (ns < 0 ? -ns : ns) / 10 % 10),
                  (char)('0' + (ns < 0 ? -ns : ns) % 10), 0};
  if (ns < 0 && ns > -1000) put(o, "-");
  put_int(o, (int64_t)(ns / 1000));
  put(o, rest);
}

static const char *collectives_text_of(const struct merge_collectives *c, uint32_t id) {
  return id ? (const char *)c->texts.strs[id].bytes : "";
}

static void put_json(struct out *o, const char *text, struct mem *mem) {
  struct buf b = {.mem = mem};
  if (!utf8_valid((const uint8_t *)text, strlen(text))) text = "?";
  json_quote(&b, text, strlen(text));
  if (b.data) out_write(o, b.data, b.len);
  buf_free(&b);
}

/* Writes a CSV field, quoted as in RFC 4180. */
static void put_csv(struct out *o, const char *text) {
  if (!strpbrk(text, "\",\r\n")) {
    put(o, text);
    return;
  }
  put(o, "\"");
  for (; *text; text++) out_write(o, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  put(o, "\"");
}

/* Writes a string of the kind "host", "name" or "group", redacted if the traces are redacted. */
static void collectives_put_text(const struct merge_table *table, const char *kind, const char *text) {
  struct buf b = {.mem = table->mem};
  if (table->redact) text = redact_outside(table->redact, kind, text, &b) && buf_append(&b, "", 1) ? (const char *)b.data : "?";
  if (table->kind == MERGE_TABLE_JSON) put_json(table->out, text, table->mem);
  else put_csv(table->out, text);
  buf_free(&b);
}

/* Properties of a collective. Each is from the first row that has it, except for bytes, which is the largest value of all rows. */
struct told {
  const char *name, *group;
  int64_t seq, bytes;
};

static struct told told_of(const struct merge_collectives *c, uint32_t from, uint32_t to) {
  struct told t = {"", "", -1, -1};
  for (uint32_t i = from; i < to; i++) {
    const struct merge_meeting *m = &c->v[i];
    if (!*t.name) t.name = collectives_text_of(c, m->name);
    if (!*t.group) t.group = collectives_text_of(c, m->group);
    if (t.seq < 0) t.seq = m->seq;
    if (m->bytes > t.bytes) t.bytes = m->bytes;
  }
  return t;
}

static void csv_row(const struct merge_collectives *c, const struct merge_table *table, uint32_t i, const uint32_t *range) {
  const struct merge_meeting *m = &c->v[i], *first = &c->v[range[0]], *last = &c->v[range[1] - 1];
  struct told t = told_of(c, range[0], range[1]);
  struct out *o = table->out;
  put_int(o, m->collective);
  put(o, ","), collectives_put_text(table, "group", t.group);
  put(o, ",");
  if (t.seq >= 0) put_int(o, t.seq);
  put(o, ","), collectives_put_text(table, "name", t.name);
  put(o, ",");
  if (m->bytes >= 0) put_int(o, m->bytes);
  put(o, ","), put_int(o, collectives_rank_of(table->who, m));
  put(o, ","), collectives_put_text(table, "host", table->who[m->input].host);
  put(o, ","), put_int(o, device_of(table->who, m));
  put(o, ","), put_us(o, (i128)m->start_ns - table->zero_ns);
  put(o, ","), put_us(o, (i128)m->end_ns - table->zero_ns);
  put(o, ","), put_us(o, (i128)last->start_ns - m->start_ns);
  put(o, ","), put_int(o, collectives_rank_of(table->who, last));
  put(o, ","), put_us(o, (i128)last->start_ns - first->start_ns);
  put(o, "\n");
}

static void json_rank(const struct merge_meeting *m, const struct merge_table *table, int64_t last) {
  struct out *o = table->out;
  put(o, "{\"rank\":"), put_int(o, collectives_rank_of(table->who, m));
  put(o, ",\"host\":"), collectives_put_text(table, "host", table->who[m->input].host);
  put(o, ",\"device\":"), put_int(o, device_of(table->who, m));
  if (m->bytes >= 0) put(o, ",\"bytes\":"), put_int(o, m->bytes);
  put(o, ",\"arrival_us\":"), put_us(o, (i128)m->start_ns - table->zero_ns);
  put(o, ",\"leave_us\":"), put_us(o, (i128)m->end_ns - table->zero_ns);
  put(o, ",\"wait_us\":"), put_us(o, (i128)last - m->start_ns);
  put(o, "}");
}

static void json_collective(const struct merge_collectives *c, const struct merge_table *table, const uint32_t *range) {
  const struct merge_meeting *first = &c->v[range[0]], *last = &c->v[range[1] - 1];
  struct told t = told_of(c, range[0], range[1]);
  struct out *o = table->out;
  put(o, range[0] ? ",\n{\"collective\":" : "\n{\"collective\":"), put_int(o, first->collective);
  put(o, ",\"group\":"), collectives_put_text(table, "group", t.group);
  if (t.seq >= 0) put(o, ",\"sequence\":"), put_int(o, t.seq);
  put(o, ",\"name\":"), collectives_put_text(table, "name", t.name);
  if (t.bytes >= 0) put(o, ",\"bytes\":"), put_int(o, t.bytes);
  put(o, ",\"last\":"), put_int(o, collectives_rank_of(table->who, last));
  put(o, ",\"skew_us\":"), put_us(o, (i128)last->start_ns - first->start_ns);
  put(o, ",\"ranks\":[");
  for (uint32_t i = range[0]; i < range[1]; i++) {
    if (i > range[0]) put(o, ",");
    json_rank(&c->v[i], table, last->start_ns);
  }
  put(o, "]}");
}

static void put_summary(struct out *o, const struct tk_collectives *sum) {
  put(o, "],\n\"summary\":{\"collectives\":"), put_int(o, (int64_t)sum->n);
  if (sum->n) {
    put(o, ",\"rank\":"), put_int(o, sum->rank);
    put(o, ",\"last\":"), put_int(o, (int64_t)sum->last);
    put(o, ",\"lost_us\":"), put(o, num_fixed(sum->lost_us, 3).s);
    put(o, ",\"steps\":"), put_int(o, (int64_t)sum->steps);
  }
  put(o, "}}\n");
}

enum merge_table_kind merge_table_kind(const char *path) {
  const char *dot = strrchr(path_leaf(path), '.');
  if (!dot || dot == path_leaf(path)) return MERGE_TABLE_NONE;
  return strcmp(dot, ".csv") == 0 ? MERGE_TABLE_CSV : strcmp(dot, ".json") == 0 ? MERGE_TABLE_JSON : MERGE_TABLE_NONE;
}

bool merge_collectives_write(const struct merge_collectives *c, const struct merge_table *to, struct tk_err *err) {
  struct mem mem = {0};
  struct merge_table with_memory = *to;
  const struct merge_table *table = &with_memory;
  struct tk_collectives sum;
  bool json = table->kind == MERGE_TABLE_JSON;
  with_memory.mem = &mem;
  put(table->out, json ? "{\"collectives\":["
                       : "collective,group,sequence,name,bytes,rank,host,device,arrival_us,leave_us,wait_us,last_rank,skew_us\n");
  for (uint32_t i = 0, k; i < c->n; i = k) {
    k = collectives_end_of(c, i);
    const uint32_t range[2] = {i, k};
    if (json) json_collective(c, table, range);
    for (uint32_t m = i; !json && m < k; m++) csv_row(c, table, m, range);
  }
  if (!json) return mem_check(&mem, err);
  merge_collectives_sum_up(c, table->who, &sum, &mem);
  put_summary(table->out, &sum);
  return mem_check(&mem, err);
}

/* ---- flows ---- */

/* True if the event's kind or args show that it is a collective, or if a row of `c` has the same name. */
static bool is_collective(const struct merge_collectives *c, const struct kinds *kinds, const struct tk_event *e) {
  unsigned kind = kinds_of(kinds, e);
  struct tk_arg arg;
  const char *name = tk_string(kinds->t, kinds->t->classes[e->cls].name, NULL);
  if (kind & KIND_COLLECTIVE || (kind & KIND_KERNEL && tk_args_find(kinds->t, e->args, "Collective name", &arg))) return true;
  size_t n;
  const char *head = kind_collective_head(name, &n);
  return intern_id(&c->texts, head, n) != 0;
}

/* Indexes the events of collectives by end time in ns, because the kernel of a collective ends with the collective. */
static bool index_events(const struct merge_collectives *c, const struct tk_trace *t, struct map *at, struct mem *mem) {
  struct kinds kinds = {0};
  bool ok = kinds_init(&kinds, t, mem);
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_CLIPPED) || !is_collective(c, &kinds, e)) continue;
    i128 end = (i128)t->origin_ns * 1000 + e->ts + e->dur;
    ok = map_put(at, (uint64_t)(end / 1000), i) != NULL;
  }
  kinds_free(&kinds);
  return ok;
}

/* Finds the event that ends within 2 ns of the given time. Exact equality is too strict, because times that a clock map moved are
 * rounded to ns. */
static tk_id event_at(const struct map *at, int64_t end_ns) {
  for (int by = 0; by < 3; by++)
    for (int side = -1; side < 2; side += 2) {
      const uint32_t *event = map_get(at, (uint64_t)(end_ns + side * by));
      if (event) return *event;
    }
  return 0;
}

static void add_point(struct tk_trace *t, tk_id event, struct tk_flow_point like, tk_time ts) {
  struct tk_event *e = &t->events[event];
  struct tk_flow_point *f = trace_add_flow_point(t);
  tk_time end = e->ts + e->dur;
  *f = like;
  f->ts = ts < e->ts ? e->ts : ts > end ? end : ts;
  f->at = event;
  f->bound = true;
  t->tracks[e->track].n_points++;
}

bool merge_collectives_link(const struct merge_collectives *c, uint32_t input, struct tk_trace *t, int64_t first_id,
                            struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct map at;
  map_init(&at, mem);
  bool ok = index_events(c, t, &at, mem);
  tk_id cls = ok ? trace_class(t, trace_text(t, "waited for"), trace_text(t, "collective")) : 0;
  for (uint32_t i = 0, k; ok && i < c->n; i = k) {
    k = collectives_end_of(c, i);
    const struct merge_meeting *last = &c->v[k - 1];
    i128 came = ((i128)last->start_ns - t->origin_ns) * 1000 + 1000;
    tk_id own = last->input == input ? event_at(&at, last->end_ns) : 0;
    for (uint32_t m = i; m + 1 < k; m++) {
      tk_id event = c->v[m].input == input ? event_at(&at, c->v[m].end_ns) : 0;
      struct tk_flow_point like = {.id = first_id + m, .cls = cls, .role = TK_FLOW_START};
      if (own) add_point(t, own, like, t->events[own].ts);
      like.role = TK_FLOW_END;
      like.enclosing = true;
      if (event && came > INT64_MIN && came < INT64_MAX) add_point(t, event, like, (tk_time)came);
    }
  }
  map_free(&at);
  return mem_check(mem, err) && (seal_order_flows(t) || mem_refuse(mem, err));
}
