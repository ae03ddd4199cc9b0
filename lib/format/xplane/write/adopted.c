/* adopted.c - finds the metadata of events, for planes that another format embedded.
 *
 * The other format stores the stats of an event and of its metadata as args of the event. The metadata of an event has the event's
 * name, and all its stats are among the event's args; these args are not written again. If the event's own stats override stats of the
 * metadata, the overridden ones are args "xplane.metadata.<name>" (read/names.c). The remaining args are the event's own stats; the
 * block contains their XStat fields.
 *
 *     metadata "fusion.1" {flops: int64 5}  event "fusion.1" {"flops":5,"run_id":7} -> id of the metadata, {run_id: uint64 7}
 *
 * If several metadata entries have the same name and keys, a hash of the values selects the right one, so that the search time does not
 * depend on the number of entries. */
#include <math.h>
#include <string.h>

#include "adopted.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "writer.h"
#include "class.h"

/* A set of keys of metadata. Entries with the same name may have different sets of keys; the larger sets come first. */
struct key_set {
  tk_id name;
  uint32_t first, n; /* the keys are keys[first .. first + n) */
  uint32_t next;     /* next set for this name; 0 = none */
};

enum { SETS_OF_NAME = 16 }; /* maximum number of sets per name; further sets are ignored, and their events keep all args */

struct known_metadata {
  int64_t id;
  struct pb message;
};

enum { LINKS = 4, FLOW_FIELDS = 3 };

struct xplane_adopted {
  struct xplane_names names;
  struct map ids;      /* event metadata id -> index in `all` of the last entry with this id */
  struct map by_name;  /* name -> its first set */
  struct map by_value; /* hash of set and values -> 1 + index in `known` */
  struct map types;    /* key -> bit set of XStat fields */
  struct buf sets, keys, known, all; /* all: event metadata, in file order */
  struct buf args;     /* array of struct tk_arg: args of the current event */
  struct xplane_found *found; /* belongs to the graph */
  uint32_t serial;
  struct buf text;
  tk_id links[LINKS], flow_fields[FLOW_FIELDS], own_name;
};

static struct key_set *sets_of(const struct xplane_adopted *a) { return (struct key_set *)(void *)a->sets.data; }
static tk_id *keys_of(const struct xplane_adopted *a) { return (tk_id *)(void *)a->keys.data; }
static struct tk_arg *args_of(const struct xplane_adopted *a) { return (struct tk_arg *)(void *)a->args.data; }

/* ---- values ---- */

static uint64_t hash_value(double d) {
  uint64_t bits;
  if (d == 0) d = 0; /* so that 0 and -0 have the same hash */
  memcpy(&bits, &d, sizeof bits);
  return hash_number(bits);
}

static const char *not_finite(double d) { return d != d ? "NaN" : d > 0 ? "Infinity" : "-Infinity"; }

static double adopted_number_of(const struct xplane_encoder *e, const struct tk_arg *arg) {
  switch (arg->type) {
    case TK_ARG_INT: return (double)arg->i;
    case TK_ARG_UINT:
    case TK_ARG_POINTER: return (double)arg->u;
    case TK_ARG_DECIMAL: return num_nearest(arg->i, arg->exp);
    case TK_ARG_NUMBER: return num_double((const char *)trace_str(e->g->t, arg->s)->bytes, trace_str(e->g->t, arg->s)->len);
    default: return arg->d;
  }
}

static bool adopted_is_text(const struct tk_arg *arg) {
  return arg->type == TK_ARG_STR || arg->type == TK_ARG_REF || arg->type == TK_ARG_JSON || arg->type == TK_ARG_BYTES;
}

static bool is_number(const struct tk_arg *arg) { return arg->type >= TK_ARG_INT && !adopted_is_text(arg); }

static struct xplane_bytes text_of_arg(const struct xplane_encoder *e, const struct tk_arg *arg) {
  const char *odd = adopted_is_text(arg) ? NULL : not_finite(arg->d);
  if (odd) return (struct xplane_bytes){(const uint8_t *)odd, strlen(odd)};
  return (struct xplane_bytes){trace_str(e->g->t, arg->s)->bytes, trace_str(e->g->t, arg->s)->len};
}

/* True if other formats store the arg as text: it is text itself, or a number that is not finite. */
static bool reads_as_text(const struct tk_arg *arg) {
  return adopted_is_text(arg) || (arg->type == TK_ARG_DOUBLE && arg->d - arg->d != 0);
}

static uint64_t hash_arg(const struct xplane_encoder *e, const struct tk_arg *arg) {
  if (reads_as_text(arg)) return hash_text(text_of_arg(e, arg).p, text_of_arg(e, arg).n) * 2;
  return is_number(arg) ? hash_value(adopted_number_of(e, arg)) : arg->type;
}

/* Returns the text as a reader returns it: invalid UTF-8 is repaired. */
static struct xplane_bytes as_read(struct xplane_adopted *a, struct xplane_bytes text) {
  if (utf8_valid(text.p, text.n)) return text;
  a->text.len = 0;
  intern_repaired(&a->text, text.p, text.n);
  return (struct xplane_bytes){a->text.data, a->text.len};
}

static tk_id find_as_read(const struct xplane_encoder *e, struct xplane_bytes text) {
  const struct xplane_bytes read = as_read(e->adopted, text);
  return xplane_find_text(e->g->t, read.p, read.n);
}

/* Returns the text of a stat in the form in which another format stores it. Returns false if the value is a number or
 * missing. */
static bool stat_text(struct xplane_adopted *a, const struct xstat *s, struct xplane_bytes *text) {
  const struct xplane_name *ref = s->field == XSTAT_REF ? xplane_name_of(&a->names, (int64_t)s->value) : NULL;
  const double d = pb_as_double(s->value);
  *text = (struct xplane_bytes){s->p, s->p ? (size_t)s->value : 0};
  if (s->field == XSTAT_REF) *text = ref ? ref->text : (struct xplane_bytes){(const uint8_t *)"", 0};
  if (s->field == XSTAT_DOUBLE && d - d != 0) *text = (struct xplane_bytes){(const uint8_t *)not_finite(d), strlen(not_finite(d))};
  if (s->field == XSTAT_BYTES || s->field == XSTAT_COMPRESSED_STR) {
    a->text.len = 0;
    buf_text(&a->text, "data:;base64,");
    base64_append(&a->text, s->p, (size_t)s->value);
    *text = (struct xplane_bytes){a->text.data, a->text.len};
  }
  if (text->p && (s->field == XSTAT_STR || s->field == XSTAT_REF)) *text = as_read(a, *text);
  return s->field && text->p;
}

static double stat_number(const struct xstat *s) {
  if (s->field == XSTAT_DOUBLE) return pb_as_double(s->value);
  return s->field == XSTAT_UINT64 ? (double)s->value : (double)(int64_t)s->value;
}

static uint64_t hash_stat(struct xplane_adopted *a, const struct xstat *s) {
  struct xplane_bytes text;
  if (stat_text(a, s, &text)) return hash_text(text.p, text.n) * 2;
  return s->field ? hash_value(stat_number(s)) : TK_ARG_NULL;
}

static bool is_value(const struct xplane_encoder *e, const struct tk_arg *arg, const struct xstat *s) {
  struct xplane_bytes text;
  if (stat_text(e->adopted, s, &text)) {
    const struct xplane_bytes is = text_of_arg(e, arg);
    return reads_as_text(arg) && is.n == text.n && (is.n == 0 || memcmp(is.p, text.p, is.n) == 0);
  }
  if (!s->field) return arg->type == TK_ARG_NULL;
  if (!is_number(arg)) return false;
  if (s->field == XSTAT_DOUBLE) return adopted_number_of(e, arg) == pb_as_double(s->value);
  if (s->field == XSTAT_INT64) return arg->type == TK_ARG_INT && arg->i == (int64_t)s->value;
  return (arg->type == TK_ARG_UINT || arg->type == TK_ARG_POINTER || (arg->type == TK_ARG_INT && arg->i >= 0)) && arg->u == s->value;
}

/* ---- the metadata of the plane ---- */

typedef bool stat_visitor(struct xplane_encoder *e, void *arg, tk_id key, const struct xstat *s);

/* Calls `each` for the args in which other formats store the metadata: its stats, and its name if another name is displayed. */
static bool each_stat(struct xplane_encoder *e, struct pb metadata, stat_visitor *each, void *arg) {
  struct pb c = metadata;
  struct pb_field f, name = {.p = (const uint8_t *)""}, display = {0};
  struct xstat s;
  bool odd = false;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_DISPLAY_NAME, PB_BYTES)) display = f;
  }
  s = (struct xstat){.field = XSTAT_STR, .value = name.value, .p = name.p};
  if (display.value && !each(e, arg, e->key_long_name, &s)) return false;
  for (c = metadata; pb_next(&c, &f);) {
    struct pb stat = pb_inside(&f);
    if (f.number != XEVENT_METADATA_STATS || !xplane_stat(&stat, &s, &odd)) continue;
    const struct xplane_name *of = xplane_name_of(&e->adopted->names, s.id);
    const tk_id key = of ? find_as_read(e, of->text) : 0;
    if (!each(e, arg, key, &s)) return false;
  }
  return true;
}

/* The keys of metadata, which are appended to the keys of the sets, and the hash of its values. */
struct metadata_survey {
  size_t keys; /* index of its first key */
  uint64_t hash;
};

/* Adds a stat. Returns false if the trace lacks the key (no event has this metadata) or the key is a duplicate (the metadata cannot be
 * recognised). */
static bool survey_stat(struct xplane_encoder *e, void *arg, tk_id key, const struct xstat *s) {
  struct xplane_adopted *a = e->adopted;
  struct metadata_survey *survey = arg;
  if (!key || a->found[key].serial == a->serial) return false;
  a->found[key].serial = a->serial;
  survey->hash += hash_stat(a, s) * (key * 2 + 1);
  return buf_append(&a->keys, &key, sizeof key);
}

static bool same_keys(const struct xplane_adopted *a, const struct key_set *set, uint32_t n) {
  bool same = set->n == n;
  for (uint32_t i = 0; same && i < n; i++) same = a->found[keys_of(a)[set->first + i]].serial == a->serial;
  return same;
}

/* Returns the set with these keys, which are the last keys in a->keys; 0 if the name has too many sets. */
static uint32_t set_of(struct xplane_adopted *a, tk_id name, uint32_t first, uint32_t n) {
  struct key_set set = {name, first, n, 0};
  uint32_t *head = map_put(&a->by_name, name, 0), met = 0, before = 0;
  if (!head) return 0;
  for (uint32_t at = *head; at; at = sets_of(a)[at - 1].next, met++) {
    if (same_keys(a, &sets_of(a)[at - 1], n)) return at;
    if (sets_of(a)[at - 1].n > n) before = at;
  }
  if (met == SETS_OF_NAME) return 0;
  set.next = before ? sets_of(a)[before - 1].next : *head;
  if (!buf_append(&a->sets, &set, sizeof set)) return 0;
  const uint32_t made = (uint32_t)(a->sets.len / sizeof set);
  if (before) sets_of(a)[before - 1].next = made;
  else *head = made;
  return made;
}

static uint64_t adopted_hash_of(uint32_t set, uint64_t values) { return hash_pair(values, set); }

/* Indexes an entry of metadata. If two entries cannot be distinguished, the first one is used. */
static void learn_metadata(struct xplane_encoder *e, int64_t id, struct pb metadata) {
  struct xplane_adopted *a = e->adopted;
  struct metadata_survey survey = {.keys = a->keys.len};
  struct known_metadata known = {id, metadata};
  const tk_id name = find_as_read(e, xplane_shown_name(metadata));
  const uint32_t first = (uint32_t)(a->keys.len / sizeof(tk_id));
  uint32_t set = 0, *slot;
  a->serial++;
  if (name && each_stat(e, metadata, survey_stat, &survey))
    set = set_of(a, name, first, (uint32_t)(a->keys.len / sizeof(tk_id)) - first);
  if (!set || sets_of(a)[set - 1].first != first) a->keys.len = survey.keys;
  if (!set) return;
  slot = map_put(&a->by_value, adopted_hash_of(set, survey.hash), 0);
  if (slot && !*slot && buf_append(&a->known, &known, sizeof known)) *slot = (uint32_t)(a->known.len / sizeof known);
}

/* Indexes all metadata. If several entries have the same id, the last one is used. */
static void learn_all(struct xplane_encoder *e) {
  struct pb c = xplane_fields(e->g->t, e->was), entry, metadata;
  struct pb_field f;
  struct map *last = &e->adopted->ids;
  uint32_t n = 0, *at;
  int64_t id;
  for (; pb_next(&c, &f);) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) continue;
    entry = pb_inside(&f);
    xplane_entry(&entry, &id, &metadata);
    if ((at = map_put(last, (uint64_t)id, 0)) != NULL) *at = n;
    buf_append(&e->adopted->all, &(struct known_metadata){id, metadata}, sizeof(struct known_metadata));
    n++;
  }
  n = 0;
  for (c = xplane_fields(e->g->t, e->was); pb_next(&c, &f);) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) continue;
    entry = pb_inside(&f);
    xplane_entry(&entry, &id, &metadata);
    if ((at = map_get(last, (uint64_t)id)) != NULL && *at == n++) learn_metadata(e, id, metadata);
  }
}

static void learn_type(void *arg, int64_t id, unsigned field) {
  const struct xplane_encoder *e = arg;
  const struct xplane_name *name = xplane_name_of(&e->adopted->names, id);
  const tk_id key = name ? find_as_read(e, name->text) : 0;
  uint32_t *fields = key ? map_put(&e->adopted->types, key, 0) : NULL;
  if (fields) *fields |= 1u << field;
}

struct xplane_adopted *xplane_adopted_new(struct xplane_encoder *e) {
  static const char *const LINK_NAMES[LINKS] = {"flow", "_p", "_c", "correlation_id"};
  static const char *const FIELD_NAMES[FLOW_FIELDS] = {"json.bind_id", "json.flow_in", "json.flow_out"};
  struct xplane_adopted *a = e->adopted = mem_alloc(e->mem, sizeof *a);
  if (!a) return NULL;
  *a = (struct xplane_adopted){.found = e->g->found, .serial = e->g->found[0].serial};
  a->sets.mem = a->keys.mem = a->known.mem = a->all.mem = a->args.mem = a->text.mem = e->mem;
  map_init(&a->ids, e->mem);
  map_init(&a->by_name, e->mem);
  map_init(&a->by_value, e->mem);
  map_init(&a->types, e->mem);
  xplane_names_of(&a->names, xplane_fields(e->g->t, e->was), e->mem);
  for (unsigned i = 0; i < LINKS; i++) a->links[i] = xplane_find_text(e->g->t, LINK_NAMES[i], strlen(LINK_NAMES[i]));
  for (unsigned i = 0; i < FLOW_FIELDS; i++) a->flow_fields[i] = xplane_find_text(e->g->t, FIELD_NAMES[i], strlen(FIELD_NAMES[i]));
  a->own_name = xplane_find_text(e->g->t, XPLANE_OWN_NAME, strlen(XPLANE_OWN_NAME));
  xplane_each_type(e->g->t, e->was, learn_type, e);
  learn_all(e);
  return a;
}

void xplane_adopted_free(struct xplane_adopted *a) {
  if (!a) return;
  struct mem *mem = a->args.mem;
  a->found[0].serial = a->serial; /* the next plane continues with this serial number */
  map_free(&a->ids);
  map_free(&a->by_name);
  map_free(&a->by_value);
  map_free(&a->types);
  xplane_names_free(&a->names);
  buf_free(&a->sets);
  buf_free(&a->keys);
  buf_free(&a->known);
  buf_free(&a->all);
  buf_free(&a->args);
  buf_free(&a->text);
  mem_free(mem, a);
}

/* ---- an event ---- */

/* Copies the event's args to a->args and indexes them by key. Returns their number. */
static uint32_t take_args(struct xplane_encoder *e, const struct tk_event *ev) {
  struct xplane_adopted *a = e->adopted;
  struct tk_args it = tk_args_of(e->g->t, ev->args);
  struct tk_arg arg;
  uint32_t n = 0;
  a->args.len = 0;
  a->serial++;
  while (tk_args_next(&it, &arg)) {
    if (!buf_append(&a->args, &arg, sizeof arg)) return n;
    a->found[arg.key] = (struct xplane_found){a->serial, n++};
  }
  return n;
}

/* Returns the arg with the metadata's value for the key; NULL if there is none. */
static const struct tk_arg *arg_of_metadata(const struct xplane_encoder *e, tk_id key) {
  const struct xplane_adopted *a = e->adopted;
  const uint32_t *overruled = map_get(&e->g->overruled, key);
  if (overruled && a->found[*overruled].serial == a->serial) key = *overruled;
  return a->found[key].serial == a->serial ? &args_of(a)[a->found[key].at] : NULL;
}

static bool check_stat(struct xplane_encoder *e, void *arg, tk_id key, const struct xstat *s) {
  const struct tk_arg *is = key ? arg_of_metadata(e, key) : NULL;
  (void)arg;
  return is && is_value(e, is, s);
}

/* Returns the metadata of the event among the metadata with this set of keys; NULL if there is none. */
static const struct known_metadata *metadata_of(struct xplane_encoder *e, uint32_t at) {
  const struct xplane_adopted *a = e->adopted;
  const struct key_set *set = &sets_of(a)[at - 1];
  const struct known_metadata *known;
  const uint32_t *found;
  uint64_t hash = 0;
  for (uint32_t i = 0; i < set->n; i++) {
    const tk_id key = keys_of(a)[set->first + i];
    const struct tk_arg *arg = arg_of_metadata(e, key);
    if (!arg) return NULL;
    hash += hash_arg(e, arg) * (key * 2 + 1);
  }
  if ((found = map_get(&a->by_value, adopted_hash_of(at, hash))) == NULL) return NULL;
  known = (const struct known_metadata *)(const void *)a->known.data + *found - 1;
  return each_stat(e, known->message, check_stat, NULL) ? known : NULL;
}

/* Removes the args whose values the metadata contains. */
static void mark_metadata(const struct xplane_encoder *e, const struct key_set *set) {
  const struct xplane_adopted *a = e->adopted;
  for (uint32_t i = 0; i < set->n; i++) {
    const struct tk_arg *arg = arg_of_metadata(e, keys_of(a)[set->first + i]);
    args_of(a)[arg - args_of(a)].key = 0;
  }
}

/* ---- metadata by the id that an event states ---- */

enum { STATS_MOST = 64 };

/* The args of an event whose values its metadata contains. */
struct contained {
  uint32_t at[STATS_MOST];
  tk_id names[STATS_MOST];
  struct xstat stats[STATS_MOST];
  unsigned n;
};

static bool collect_stat(struct xplane_encoder *e, void *arg, tk_id key, const struct xstat *s) {
  struct contained *c = arg;
  (void)e;
  if (c->n == STATS_MOST || !key) return false;
  c->names[c->n] = key;
  c->stats[c->n++] = *s;
  return true;
}

/* Returns the key of the arg for a stat that is overridden by `depth` later stats with the same name. */
static tk_id earlier_key(struct xplane_encoder *e, tk_id name, unsigned depth) {
  struct buf *b = &e->adopted->text;
  size_t n;
  const char *text = tk_string(e->g->t, name, &n);
  b->len = 0;
  for (unsigned i = 0; i < depth; i++) buf_text(b, XPLANE_EARLIER);
  buf_append(b, text, n);
  return xplane_find_text(e->g->t, b->data, b->len);
}

/* Finds the args for all stats of the metadata. Returns false if one is missing or has another value, because an operation
 * changed the event. */
static bool find_contained(struct xplane_encoder *e, struct contained *c) {
  for (unsigned i = 0; i < c->n; i++) {
    unsigned depth = 0;
    for (unsigned k = i + 1; k < c->n; k++) depth += c->names[k] == c->names[i];
    const tk_id key = depth ? earlier_key(e, c->names[i], depth) : c->names[i];
    const struct tk_arg *arg = key ? arg_of_metadata(e, key) : NULL;
    if (!arg || !is_value(e, arg, &c->stats[i])) return false;
    c->at[i] = (uint32_t)(arg - args_of(e->adopted));
  }
  return true;
}

/* Returns the metadata whose id is among the event's args, and removes the args that are stats of the metadata. Returns NULL if
 * no arg has such an id, or if the args differ from those stats. */
static const struct known_metadata *stated_metadata(struct xplane_encoder *e) {
  const struct xplane_adopted *a = e->adopted;
  const bool states = e->key_metadata_id && a->found[e->key_metadata_id].serial == a->serial;
  struct tk_arg *args = args_of(a), *id = states ? &args[a->found[e->key_metadata_id].at] : NULL;
  const uint32_t *at = id && id->type == TK_ARG_INT ? map_get(&a->ids, (uint64_t)id->i) : NULL;
  struct contained c = {.n = 0};
  if (!at) return NULL;
  const struct known_metadata *known = (const struct known_metadata *)(const void *)a->all.data + *at;
  if (!each_stat(e, known->message, collect_stat, &c) || !find_contained(e, &c)) return NULL;
  for (unsigned i = 0; i < c.n; i++) args[c.at[i]].key = 0;
  return known;
}

/* ---- types ---- */

static unsigned fields_of(const struct xplane_encoder *e, tk_id key) {
  const uint32_t *fields = map_get(&e->adopted->types, xplane_stat_name(e, key));
  return fields ? *fields : 0;
}

/* True if the double, when printed, is the number of the arg. */
static bool prints_as(const struct xplane_encoder *e, double d, const struct tk_arg *arg) {
  char text[40];
  const struct intern_str *s = arg->type == TK_ARG_NUMBER ? trace_str(e->g->t, arg->s) : NULL;
  const size_t n = num_put_double(text, d);
  const uint8_t *end;
  text[n] = 0;
  if (s) return s->len == n && memcmp(s->bytes, text, n) == 0;
  const struct num num = num_scan((const uint8_t *)text, &end);
  if (num.kind != NUM_INT && num.kind != NUM_UINT && num.kind != NUM_DEC) return false;
  if (arg->type == TK_ARG_UINT) return num.kind == NUM_UINT && (uint64_t)num.mant == arg->u;
  if (arg->type == TK_ARG_INT) return num.kind == NUM_INT && num.mant == arg->i;
  return num.kind == NUM_DEC && num.mant == arg->i && num.exp == arg->exp;
}

static void restore_number(const struct xplane_encoder *e, struct tk_arg *arg, unsigned fields) {
  const double d = adopted_number_of(e, arg);
  if (arg->type == TK_ARG_INT && fields & 1u << XSTAT_INT64) return;
  if ((arg->type == TK_ARG_INT && arg->i >= 0) || arg->type == TK_ARG_UINT) {
    if (fields & 1u << XSTAT_UINT64) arg->type = TK_ARG_UINT;
    if (fields & 1u << XSTAT_UINT64) return;
  }
  if (!(fields & 1u << XSTAT_DOUBLE) || arg->type == TK_ARG_DOUBLE || !prints_as(e, d, arg)) return;
  *arg = (struct tk_arg){.key = arg->key, .type = TK_ARG_DOUBLE, .d = d};
}

static bool restore_not_finite(const struct xplane_encoder *e, struct tk_arg *arg) {
  static const double VALUES[] = {NAN, INFINITY, -INFINITY};
  const char *text = tk_string(e->g->t, arg->s, NULL);
  for (unsigned i = 0; i < 3; i++) {
    if (strcmp(text, not_finite(VALUES[i])) != 0) continue;
    *arg = (struct tk_arg){.key = arg->key, .type = TK_ARG_DOUBLE, .d = VALUES[i]};
    return true;
  }
  return false;
}

static void restore_text(const struct xplane_encoder *e, struct tk_arg *arg, unsigned fields) {
  const bool text = fields & 1u << XSTAT_STR, ref = fields & 1u << XSTAT_REF;
  if (fields & 1u << XSTAT_DOUBLE && !text && !ref && restore_not_finite(e, arg)) return;
  if (ref && (!text || map_get(&e->stats, (uint64_t)arg->s << 8))) arg->type = TK_ARG_REF;
}

static void restore_type(const struct xplane_encoder *e, struct tk_arg *arg) {
  const unsigned fields = fields_of(e, arg->key);
  if (!fields) return;
  if (arg->type == TK_ARG_STR) restore_text(e, arg, fields);
  else if (is_number(arg)) restore_number(e, arg, fields);
}

bool xplane_adopted_bytes(struct xplane_encoder *e, const struct tk_arg *arg, struct xplane_bytes *bytes) {
  static const char URL[] = "data:;base64,";
  const size_t prefix = sizeof URL - 1;
  const struct intern_str *s;
  const unsigned fields = arg->key == KEY_XPLANE_FIELDS ? 1u << XSTAT_BYTES : fields_of(e, arg->key);
  if (arg->type != TK_ARG_STR || !(fields & (1u << XSTAT_BYTES | 1u << XSTAT_COMPRESSED_STR))) return false;
  s = trace_str(e->g->t, arg->s);
  if (s->len < prefix || memcmp(s->bytes, URL, prefix) != 0) return false;
  e->adopted->text.len = 0;
  if (!buf_append(&e->adopted->text, s->bytes + prefix, s->len - prefix) || !buf_reserve(&e->adopted->text, 1)) return false;
  const size_t n = base64_decode(e->adopted->text.data, s->len - prefix);
  *bytes = (struct xplane_bytes){e->adopted->text.data, n};
  return n != SIZE_MAX;
}

/* ---- complete events ---- */

/* True if the event's own stats define flows; a reader of the output then creates the flows from these stats. */
static bool states_flows(const struct xplane_encoder *e, const struct tk_arg *args, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (unsigned k = 0; k < LINKS; k++)
      if (args[i].key && args[i].key == e->adopted->links[k]) return true;
  return false;
}

static bool is_flow_field(const struct xplane_adopted *a, tk_id key) {
  return key == a->flow_fields[0] || key == a->flow_fields[1] || key == a->flow_fields[2];
}

/* Returns the name of the event's metadata. For a step this is the value of an arg, because the name of its class is the
 * step_name. */
static tk_id adopted_name_of(const struct xplane_adopted *a, const struct tk_class *c) {
  return a->own_name && a->found[a->own_name].serial == a->serial ? args_of(a)[a->found[a->own_name].at].s : c->name;
}

/* Returns 7 for the name "#7", the name of an event whose metadata 7 is missing from the plane; 0 for other names. */
static int64_t nameless_id(const struct xplane_encoder *e, tk_id name) {
  const struct intern_str *s = trace_str(e->g->t, name);
  const uint8_t *end;
  if (s->len < 2 || *s->bytes != '#') return 0;
  const struct num id = num_scan(s->bytes + 1, &end);
  if (id.kind != NUM_INT || end != s->bytes + s->len || map_get(&e->adopted->ids, (uint64_t)id.mant)) return 0;
  return id.mant;
}

const struct tk_arg *xplane_adopted_args(struct xplane_encoder *e, const struct tk_event *ev, uint32_t *n, int64_t *id) {
  struct xplane_adopted *a = e->adopted;
  const uint32_t taken = take_args(e, ev), *set = map_get(&a->by_name, adopted_name_of(a, &e->g->t->classes[ev->cls]));
  struct tk_arg *args = args_of(a);
  const struct known_metadata *known = stated_metadata(e);
  for (uint32_t at = set ? *set : 0; at && !known; at = sets_of(a)[at - 1].next)
    if ((known = metadata_of(e, at)) != NULL) mark_metadata(e, &sets_of(a)[at - 1]);
  if (known && a->own_name && a->found[a->own_name].serial == a->serial) args[a->found[a->own_name].at].key = 0;
  if (known) xplane_use_class(e, known->id);
  *id = known ? known->id : nameless_id(e, e->g->t->classes[ev->cls].name);
  const bool links = states_flows(e, args, taken);
  *n = 0;
  for (uint32_t i = 0; i < taken; i++) {
    if (!args[i].key || (links && is_flow_field(a, args[i].key))) continue;
    restore_type(e, &args[i]);
    args[(*n)++] = args[i];
  }
  return args;
}
