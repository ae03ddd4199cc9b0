/* shrunk.c - see shrunk.h. Every shrink records what each of its steps removed ("rungs"), and appends the accounts of earlier
 * shrinks ("before"):
 *
 *     {"rungs":[{"rung":"args","events":0,"args":12,...},...],"coalesced":3,...,"before":[{"rungs":[...],...},...]} */
#include "shrunk.h"

#include <stdio.h>
#include <string.h>

#include "format/json.h"

static uint64_t member_count(const struct json_value *object, const char *key) {
  struct json_value v;
  int64_t n;
  const char *text = (const char *)object->p;
  if (!json_member(text, (size_t)(object->end - object->p), key, &v)) return 0;
  return json_whole((const char *)v.p, (size_t)(v.end - v.p), &n) && n > 0 ? (uint64_t)n : 0;
}

/* Calls `take` for each object in the array that is the member `key` of the object. */
static void each_object(const struct json_value *object, const char *key, void (*take)(const struct json_value *, struct shrunk_sums *),
                        struct shrunk_sums *to) {
  struct json_value array, item;
  if (!json_member((const char *)object->p, (size_t)(object->end - object->p), key, &array) || array.type != JSON_ARRAY) return;
  struct json j = {.p = array.p + 1, .end = array.end, .last = true};
  while (json_blank(&j) && *j.p != ']' && json_value(&j, &item)) {
    if (item.type == JSON_OBJECT) take(&item, to);
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
}

static void add_rung(const struct json_value *rung, struct shrunk_sums *to) {
  to->removed += member_count(rung, "events");
  to->stripped += member_count(rung, "args");
}

/* Adds one shrink. The events of its rungs include the merged events. */
static void add_shrink(const struct json_value *shrink, struct shrunk_sums *to) {
  const uint64_t merged = member_count(shrink, "coalesced"), before = to->removed;
  each_object(shrink, "rungs", add_rung, to);
  to->removed -= merged < to->removed - before ? merged : to->removed - before;
  to->merged += merged;
}

struct shrunk_sums shrunk_find(const struct tk_trace *t) {
  struct shrunk_sums sums = {0};
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value shrink;
  if (!m || m->origin || !json_member(trace_raw(t, m->at), m->size, "shrink", &shrink) || shrink.type != JSON_OBJECT) return sums;
  add_shrink(&shrink, &sums);
  each_object(&shrink, "before", add_shrink, &sums);
  return sums;
}

void shrunk_note(struct tk_trace *t) {
  const struct shrunk_sums sums = shrunk_find(t);
  char text[256];
  if (!sums.removed && !sums.merged && !sums.stripped) return;
  snprintf(text, sizeof text, "the trace was shrunk (events removed: %llu, merged into others: %llu, without some args: %llu), so "
           "counts and times are incomplete", (unsigned long long)sums.removed, (unsigned long long)sums.merged,
           (unsigned long long)sums.stripped);
  trace_note(t, TK_NOTE_INFO, UINT64_MAX, text);
}
