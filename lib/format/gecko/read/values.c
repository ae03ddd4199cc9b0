/* values.c - values of Firefox profiles: texts, indices, times and ids. */
#include "values.h"

#include <string.h>

#include "base/num.h"

tk_id gecko_text(struct gecko *g, struct json_walk *w, const struct json_value *v) {
  size_t n = 0;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return trace_string(g->t, text, n);
}

void gecko_repair(struct gecko *g, const uint8_t *at, const char *text) {
  trace_note(g->t, TK_NOTE_REPAIR, at ? (uint64_t)(at - g->text) : UINT64_MAX, text);
}

/* Reads an index (values.h). -1 stands for null in columns that may be typed arrays. */
bool gecko_index(struct gecko *g, const struct json_value *v, uint32_t n, uint32_t *index) {
  int64_t number;
  if (!v->p || v->type == JSON_NULL) return false;
  const bool whole = json_walk_whole(v, &number);
  if (whole && number == -1) return false;
  if (!whole || number < 0 || number >= n) {
    gecko_repair(g, v->p, "index beyond its table: ignored");
    return false;
  }
  *index = (uint32_t)number;
  return true;
}

tk_id gecko_string_of(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *v) {
  uint32_t i;
  size_t n = 0;
  if (v->p && v->type == JSON_STRING) return gecko_text(g, w, v);
  if (!gecko_index(g, v, x->strings.n, &i)) return 0;
  struct gecko_string *s = &x->strings.v[i];
  if (s->id) return s->id;
  const uint8_t *text = json_string_text(&w->j, &s->text, &n);
  return s->id = trace_string(g->t, text, n);
}

uint32_t gecko_position(const struct json_value *v) {
  int64_t number;
  return json_walk_whole(v, &number) && number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Stores a time. Returns false if it is more than 53 days from the origin, which is invalid. */
static bool gecko_near(i128 ps, tk_time *ts) {
  static const i128 MOST = (i128)1 << 62;
  if (ps > MOST || ps < -MOST) return false;
  *ts = (tk_time)ps;
  return true;
}

bool gecko_time(const struct gecko *g, const struct json_value *v, tk_time *ts) {
  i128 ps;
  if (!v->p || v->type != JSON_NUMBER || !num_scaled(v->p, v->end, 9, &ps)) return false;
  *ts = 0;
  if (g->times_are_bytes) return true;
  return gecko_near(ps + g->offset_ps, ts);
}

bool gecko_next_time(struct gecko *g, struct gecko_clock *c, const struct json_value *time, const struct json_value *delta,
                     tk_time *ts) {
  static const i128 UNIT = 1000000, MOST = (i128)1 << 100;
  i128 step;
  if (time->p && time->type != JSON_NULL) return gecko_time(g, time, ts);
  if (!delta->p || delta->type != JSON_NUMBER || !num_scaled(delta->p, delta->end, 15, &step)) return false;
  if (c->sum + step < MOST && c->sum + step > -MOST) c->sum += step;
  *ts = 0;
  if (g->times_are_bytes) return true;
  const i128 half = c->sum < 0 ? -UNIT / 2 : UNIT / 2;
  return gecko_near((c->sum + half) / UNIT + g->offset_ps, ts);
}

bool gecko_ident(struct gecko *g, struct json_walk *w, const struct json_value *v, struct tk_ident *ident) {
  int64_t number;
  if (v->p && v->type == JSON_NUMBER && json_walk_whole(v, &number)) {
    *ident = ident_int(number);
    return true;
  }
  const tk_id text = gecko_text(g, w, v);
  size_t n;
  const char *bytes = tk_string(g->t, text, &n);
  if (!text || !n) return false;
  const uint8_t *end;
  const struct num parsed = num_scan((const uint8_t *)bytes, &end);
  const bool whole = parsed.kind == NUM_INT && end == (const uint8_t *)bytes + n;
  *ident = whole ? ident_int(parsed.mant) : ident_str(text);
  return true;
}

void gecko_add_id(struct gecko *g, struct gecko_ids *ids, tk_id id) {
  if (mem_grow(g->mem, (void **)&ids->v, &ids->cap, (uint64_t)ids->n + 1, sizeof *ids->v)) ids->v[ids->n++] = id;
}
