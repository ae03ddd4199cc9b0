/* names.c - replaces provisional names at the end of a plane with the names in its maps.
 *
 *     stat metadata   -> names of keys and refs          event metadata -> names and shared args of classes
 *
 *     shape (#1 int, #7 ref)  --patched once-->  (group_id int, hlo_op ref)
 *     packed ref: index in r->stats, five bytes  --in place-->  id of the string, five bytes
 *
 * Records are packed again if this is not enough: if two stats have the same name (the last one is used), or for private
 * types. */
#include <string.h>

#include "names.h"
#include "graph/seal.h"
#include "format/xplane/private.h"
#include "reader.h"
#include "unclear.h"
#include "graph/args.h"

enum { NEED_REFS = 1, NEED_REBUILD = 2, NEED_STEP = 4, NEED_LINK = 8 };

struct naming {
  struct xplane_reader *r;
  struct xplane_plane *plane;
  struct map by_key; /* provisional key -> index in r->stats */
  uint8_t *needs;    /* by shape - r->first_shape: NEED_* bits of the shape's records */
  uint32_t n_shapes;
  uint8_t any; /* union of all needs */
  tk_id step_name, bits, cat, long_name, link;
  tk_id links[4]; /* keys of args from stats that link events */
  bool has_made; /* true if some events were generated for xprof */
};

/* ---- the maps ---- */

static const struct {
  const char *word;
  unsigned type;
} TYPES[] = {{"json", TK_ARG_JSON},
             {"number", TK_ARG_NUMBER},
             {"bool", TK_ARG_TRUE},
             {"pointer", TK_ARG_POINTER},
             {"xprof", XPLANE_DROP},
             {"link", XPLANE_LINK},
             {"flow", XPLANE_DROP}}; /* name used in older files */

static uint8_t type_of(const struct pb_field *description) {
  size_t prefix = strlen(XPLANE_PRIVATE_TYPE), n = (size_t)description->value;
  if (n <= prefix || memcmp(description->p, XPLANE_PRIVATE_TYPE, prefix) != 0) return TK_ARG_TYPES;
  size_t decimal = prefix + strlen(XPLANE_PRIVATE_DECIMAL);
  i128 exp;
  if (n > decimal && n < decimal + 4 && memcmp(description->p + prefix, XPLANE_PRIVATE_DECIMAL, decimal - prefix) == 0 &&
      num_scaled(description->p + decimal, description->p + n, 0, &exp) && exp >= -XPLANE_MAX_EXP && exp <= XPLANE_MAX_EXP)
    return (uint8_t)(XPLANE_DECIMAL + (int)exp);
  for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++)
    if (strlen(TYPES[i].word) == n - prefix && memcmp(TYPES[i].word, description->p + prefix, n - prefix) == 0)
      return (uint8_t)TYPES[i].type;
  return TK_ARG_TYPES;
}

static void note_mismatch(struct naming *n, int64_t key, int64_t id) {
  if (id && id != key) xplane_note(n->r, TK_NOTE_REPAIR, "metadata whose key differs from its id: the key is used");
}

static void stat_metadata(struct naming *n, const struct pb_field *f) {
  struct xplane_stat_name *s;
  struct pb entry = pb_inside(f), c;
  struct pb_field g;
  int64_t key;
  xplane_entry(&entry, &key, &c);
  const uint32_t at = xplane_stat_at(n->r, key);
  if (!at) return;
  s = &n->r->stats[at];
  s->name = KEY_EMPTY;
  s->type = TK_ARG_TYPES;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(XSTAT_METADATA_KEY, PB_VARINT)) note_mismatch(n, key, (int64_t)g.value);
    if (pb_field_key(&g) == PB_KEY(XSTAT_METADATA_NAME, PB_BYTES)) s->name = xplane_text(n->r, g.p, (size_t)g.value);
    if (pb_field_key(&g) == PB_KEY(XSTAT_METADATA_DESCRIPTION, PB_BYTES)) s->type = type_of(&g);
  }
}

static void class_stat(struct naming *n, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct xstat s;
  bool odd = false;
  char text[24] = "#";
  uint32_t at;
  xplane_stat(&c, &s, &odd);
  at = xplane_stat_at(n->r, s.id);
  if (at && !n->r->stats[at].key) n->r->stats[at].key = trace_string(n->r->t, text, 1 + num_put_i64(text + 1, s.id));
  if (at) xplane_arg(n->r, &s, n->r->stats[at].key);
}

static bool is_word(const struct pb_field *f, const char *word) { return xplane_bytes_are(xplane_bytes_of(f), word); }

/* Reads the word with which tracekit marks metadata (XEventMetadata.metadata). Returns true if the displayed name is the only
 * name of the event. */
static bool class_word(struct naming *n, tk_id cls, const struct pb_field *f) {
  struct xplane_class *c = &((struct xplane_class *)(void *)n->r->classes.data)[cls];
  c->series = c->series || is_word(f, XPLANE_PRIVATE_SERIES);
  c->made = c->made || is_word(f, XPLANE_PRIVATE_MADE);
  c->nameless = c->nameless || is_word(f, XPLANE_PRIVATE_NAMELESS);
  n->has_made = n->has_made || c->made;
  return is_word(f, XPLANE_PRIVATE_NAMED);
}

/* Sets the name of the class of this metadata, if an event used it, and the args that all its events share. */
static void event_metadata(struct naming *n, const struct pb_field *f) {
  struct tk_trace *t = n->r->t;
  tk_id name = KEY_EMPTY, display = 0, *cls;
  struct pb entry = pb_inside(f), c, again;
  struct pb_field g;
  int64_t key;
  bool named = false;
  xplane_entry(&entry, &key, &c);
  if ((cls = map_get(&n->r->class_ids, (uint64_t)key)) == NULL) return;
  again = c;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(XEVENT_METADATA_METADATA, PB_BYTES)) named = class_word(n, *cls, &g) || named;
    if (pb_field_key(&g) == PB_KEY(XEVENT_METADATA_KEY, PB_VARINT)) note_mismatch(n, key, (int64_t)g.value);
    if (pb_field_key(&g) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) name = xplane_text(n->r, g.p, (size_t)g.value);
    if (pb_field_key(&g) == PB_KEY(XEVENT_METADATA_DISPLAY_NAME, PB_BYTES)) display = xplane_text(n->r, g.p, (size_t)g.value);
  }
  args_begin(t);
  if (display && display != KEY_EMPTY && !named) args_str(t, n->long_name, TK_ARG_STR, name);
  while (pb_next(&again, &g))
    if (pb_field_key(&g) == PB_KEY(XEVENT_METADATA_STATS, PB_BYTES)) class_stat(n, &g);
  t->classes[*cls].name = display && display != KEY_EMPTY ? display : name;
  t->classes[*cls].args = args_end(t);
}

/* Calls `read` for each entry of a map. Damaged entries were skipped when the plane was read. */
static void each_entry(struct naming *n, uint32_t number, void (*read)(struct naming *n, const struct pb_field *f)) {
  struct pb c = xplane_fields(n->r->t, n->plane);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(number, PB_BYTES)) read(n, &f);
}

static tk_id prefixed(struct naming *n, const char *prefix, tk_id name) {
  struct buf *b = &n->r->text;
  size_t len;
  const char *text = tk_string(n->r->t, name, &len);
  b->len = 0;
  buf_text(b, prefix);
  buf_append(b, text, len);
  return trace_string(n->r->t, b->data, b->len);
}

/* Uses their number as the name of classes without metadata. */
static void name_the_rest(struct naming *n) {
  struct xplane_reader *r = n->r;
  char text[24] = "#";
  uint32_t n_classes = (uint32_t)(r->classes.len / sizeof(struct xplane_class));
  const struct xplane_class *from = (const struct xplane_class *)(const void *)r->classes.data;
  for (tk_id i = n_classes; i-- > 1 && from[i].process == n->plane->process;) {
    if (from[i].nameless) r->t->classes[i].name = 0;
    if (r->t->classes[i].name || from[i].nameless) continue;
    r->t->classes[i].name = trace_string(r->t, text, 1 + num_put_i64(text + 1, from[i].id));
    xplane_note(r, TK_NOTE_REPAIR, "events whose metadata is missing: named by metadata id");
  }
  for (uint32_t i = 1; i <= r->n_stats; i++) {
    if (r->stats[i].key) map_put(&n->by_key, r->stats[i].key, i);
    if (r->stats[i].earlier) map_put(&n->by_key, r->stats[i].earlier, i);
    if (r->stats[i].earlier && r->stats[i].name) r->stats[i].earlier_name = prefixed(n, XPLANE_EARLIER, r->stats[i].name);
    if (r->stats[i].key && !r->stats[i].name) xplane_note(r, TK_NOTE_REPAIR, "stats whose metadata is missing: named by metadata id");
  }
}

/* ---- shapes ---- */

static const struct xplane_stat_name *stat_of_key(const struct naming *n, tk_id key) {
  uint32_t *at = map_get(&n->by_key, key);
  return at ? &n->r->stats[*at] : NULL;
}

static tk_id final_key(const struct naming *n, tk_id key) {
  const struct xplane_stat_name *s = stat_of_key(n, key);
  if (!s || !s->name) return key;
  return key == s->earlier ? s->earlier_name : s->name;
}

static bool twice(const struct naming *n, const struct tk_arg_shape *s, uint32_t i) {
  tk_id key = final_key(n, s->fields[i].key);
  for (uint32_t k = 0; k < i; k++)
    if (final_key(n, s->fields[k].key) == key) return true;
  return false;
}

static uint8_t needs_of(const struct naming *n, const struct tk_arg_shape *s) {
  uint8_t needs = s->n > 64 ? NEED_REBUILD : 0; /* for so many stats, duplicate names are only detected when packing */
  for (uint32_t i = 0; i < s->n; i++) {
    const struct xplane_stat_name *stat = stat_of_key(n, s->fields[i].key);
    tk_id key = final_key(n, s->fields[i].key);
    if (s->fields[i].type == TK_ARG_REF) needs |= NEED_REFS;
    if (stat && stat->type != TK_ARG_TYPES) needs |= NEED_REBUILD;
    if (key == n->bits || key == n->cat || (s->n <= 64 && twice(n, s, i))) needs |= NEED_REBUILD;
    if (key == n->step_name) needs |= NEED_STEP;
    for (unsigned k = 0; k < 4; k++)
      if (key == n->links[k]) needs |= NEED_LINK;
  }
  return needs;
}

static bool survey_shapes(struct naming *n) {
  struct tk_store *s = n->r->t->store;
  n->n_shapes = s->n_shapes + 1 - n->r->first_shape;
  n->needs = mem_array(&s->mem, (uint64_t)n->n_shapes + 1, 1);
  if (!n->needs) return false;
  for (uint32_t i = 0; i < n->n_shapes; i++) n->any |= n->needs[i] = needs_of(n, s->shapes[n->r->first_shape + i]);
  return true;
}

static void patch_shapes(struct naming *n) {
  struct tk_store *s = n->r->t->store;
  for (uint32_t i = 0; i < n->n_shapes; i++) {
    struct tk_arg_shape *shape = s->shapes[n->r->first_shape + i];
    for (uint32_t k = 0; k < shape->n; k++) shape->fields[k].key = final_key(n, shape->fields[k].key);
  }
}

/* ---- records of args ---- */

static tk_id ref_text(const struct naming *n, uint64_t at) {
  return at <= n->r->n_stats && n->r->stats[at].name ? n->r->stats[at].name : KEY_EMPTY;
}

static void patch_refs(struct naming *n, uint32_t args) {
  struct tk_args it = tk_args_of(n->r->t, args);
  const uint8_t *pool = n->r->t->store->pool.data;
  struct tk_arg arg;
  for (const uint8_t *at = it.next; tk_args_next(&it, &arg); at = it.next) {
    uint8_t *q = n->r->t->store->pool.data + (at - pool);
    tk_id text = ref_text(n, arg.s);
    if (arg.type != TK_ARG_REF) continue;
    for (unsigned i = 0; i < 5; i++) q[i] = (uint8_t)((text >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  }
}

static bool is_json(struct naming *n, tk_id text) {
  const struct intern_str *s = trace_str(n->r->t, text);
  struct buf copy = {.mem = &n->r->t->store->mem};
  bool ok = xplane_strict_json(s->bytes, s->len, &copy);
  buf_free(&copy);
  return ok;
}

/* Adds a decimal with this exponent, which was stored as a double. If the double cannot be such a decimal, it is kept. */
static void put_decimal(struct naming *n, const struct tk_arg *arg, int exp) {
  double mant = exp < 0 ? arg->d * XPLANE_TENS[-exp] : arg->d / XPLANE_TENS[exp];
  int64_t near = 0;
  bool sane = mant < (double)XPLANE_MAX_MANT && mant > -(double)XPLANE_MAX_MANT;
  if (sane) near = (int64_t)(mant < 0 ? mant - 0.5 : mant + 0.5);
  if (sane && xplane_decimal(near, exp) == arg->d) args_decimal(n->r->t, arg->key, near, exp);
  else args_double(n->r->t, arg->key, arg->d);
}

/* Adds an arg with its private type, if the value is valid for this type. */
static void put_typed(struct naming *n, struct tk_arg *arg, uint8_t type) {
  struct tk_trace *t = n->r->t;
  const struct intern_str *s = arg->type == TK_ARG_STR ? trace_str(t, arg->s) : NULL;
  const uint8_t *end = NULL;
  if (type == TK_ARG_TRUE && arg->type == TK_ARG_INT) args_flag(t, arg->key, arg->i ? TK_ARG_TRUE : TK_ARG_FALSE);
  else if (type == TK_ARG_POINTER && arg->type == TK_ARG_UINT) args_uint(t, arg->key, TK_ARG_POINTER, arg->u);
  else if (type > XPLANE_DROP && arg->type == TK_ARG_DOUBLE) put_decimal(n, arg, type - XPLANE_DECIMAL);
  else if (type == TK_ARG_JSON && s && is_json(n, arg->s)) args_str(t, arg->key, TK_ARG_JSON, arg->s);
  else if (type == TK_ARG_NUMBER && s && num_scan(s->bytes, &end).kind != NUM_NONE && end == s->bytes + s->len)
    args_str(t, arg->key, TK_ARG_NUMBER, arg->s);
  else args_copy(t, arg);
}

enum { EARLIER_MOST = 16 };

/* Renames the arg with this key to the key for earlier stats. An arg that already has that key is renamed first, in the same
 * way. */
static void make_room(struct naming *n, tk_id key) {
  tk_id keys[EARLIER_MOST + 1] = {key};
  unsigned depth = 0;
  while (depth < EARLIER_MOST && args_hold(n->r->t, keys[depth])) keys[depth + 1] = prefixed(n, XPLANE_EARLIER, keys[depth]), depth++;
  if (args_hold(n->r->t, keys[depth]))
    xplane_note(n->r, TK_NOTE_INFO, "more than 16 stats with the same name on an event: the last ones are kept");
  for (; depth; depth--) args_rename(n->r->t, keys[depth - 1], keys[depth]);
}

/* Adds the later of two stats that have different ids and the same name. */
static void put_later(struct naming *n, struct tk_arg *arg, uint8_t type) {
  make_room(n, arg->key);
  put_typed(n, arg, type);
}

/* Packs the args of an event again under their final keys. Private args of our writer are not packed, but stored in *bits and *cat. */
static uint32_t rebuild(struct naming *n, uint32_t args, int64_t *bits, tk_id *cat) {
  struct tk_args it = tk_args_of(n->r->t, args);
  struct tk_arg arg;
  args_begin(n->r->t);
  /* Safe although the pool may move, because it only moves in args_end, after the loop. */
  while (tk_args_next(&it, &arg)) {
    const struct xplane_stat_name *s = stat_of_key(n, arg.key);
    arg.key = final_key(n, arg.key);
    if (arg.type == TK_ARG_REF) arg.s = ref_text(n, arg.s);
    if (s && s->type == XPLANE_DROP) continue;
    if (s && s->type == XPLANE_LINK) arg.key = n->link;
    if (arg.key == n->bits && arg.type == TK_ARG_INT && bits) *bits = arg.i;
    else if (arg.key == n->cat && arg.type == TK_ARG_STR && cat) *cat = arg.s;
    else if (s && s->name && args_hold(n->r->t, arg.key)) put_later(n, &arg, s->type);
    else put_typed(n, &arg, s ? s->type : TK_ARG_TYPES);
  }
  return args_end(n->r->t);
}

static uint8_t needs_at(const struct naming *n, uint32_t args) {
  uint32_t shape = args_shape_of(n->r->t, args);
  return shape >= n->r->first_shape && shape < n->r->first_shape + n->n_shapes ? n->needs[shape - n->r->first_shape] : 0;
}

/* Restores properties that an XEvent cannot represent: kind and flags of the event. */
static void apply_bits(struct tk_event *e, int64_t bits) {
  static const int64_t FLAGS =
      TK_FLAG_PAIRED | TK_FLAG_UNFINISHED | TK_FLAG_CLIPPED | TK_FLAG_REPAIRED | TK_FLAG_END_NAMED | TK_FLAG_ASYNC;
  if ((bits & 0xff) == TK_EVENT_INSTANT || (bits & 0xff) == TK_EVENT_COUNTER) {
    e->kind = (uint8_t)(bits & 0xff);
    e->dur = 0;
  }
  e->flags |= (uint8_t)(bits >> 8 & FLAGS);
}

/* True if the event has the id by which JSON pairs the begin and the end of an async event. */
static bool has_id(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg))
    if (arg.key == KEY_ID || arg.key == KEY_ID2) return true;
  return false;
}

static void finish_events(struct naming *n, tk_id first) {
  struct tk_trace *t = n->r->t;
  for (tk_id i = first; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    uint8_t needs = e->args ? needs_at(n, e->args) : 0;
    int64_t bits = 0;
    if (needs & NEED_REBUILD) {
      e->args = rebuild(n, e->args, &bits, NULL);
      if (bits) apply_bits(e, bits);
      if (e->flags & TK_FLAG_ASYNC && !has_id(t, e)) e->flags &= (uint8_t)~(TK_FLAG_ASYNC | TK_FLAG_PAIRED); /* damage */
    } else if (needs & NEED_REFS) {
      patch_refs(n, e->args);
    }
  }
}

static void finish_classes(struct naming *n) {
  struct xplane_reader *r = n->r;
  const struct xplane_class *from = (const struct xplane_class *)(const void *)r->classes.data;
  for (tk_id i = (tk_id)(r->classes.len / sizeof *from); i-- > 1 && from[i].process == n->plane->process;) {
    struct tk_class *c = &r->t->classes[i];
    uint8_t needs = c->args ? needs_at(n, c->args) : 0;
    if (needs & NEED_REBUILD) c->args = rebuild(n, c->args, NULL, &c->cat);
    else if (needs & NEED_REFS) patch_refs(n, c->args);
  }
}

/* ---- stats of metadata that are overridden by stats of the event ---- */

/* The keys of an event's args; a map if there are many. */
struct own_keys {
  const struct tk_arg_shape *shape;
  struct map many;
};

static struct own_keys own_keys(struct naming *n, uint32_t args) {
  struct own_keys k = {.shape = tk_args_of(n->r->t, args).shape};
  map_init(&k.many, &n->r->t->store->mem);
  for (uint32_t i = 0; k.shape->n > 16 && i < k.shape->n; i++) map_put(&k.many, k.shape->fields[i].key, 1);
  return k;
}

static bool names_has_key(const struct own_keys *k, tk_id key) {
  if (k->many.n) return map_get(&k->many, key) != NULL;
  for (uint32_t i = 0; i < k->shape->n; i++)
    if (k->shape->fields[i].key == key) return true;
  return false;
}

static bool overrules(struct naming *n, uint32_t own, uint32_t shared) {
  const struct tk_arg_shape *s = tk_args_of(n->r->t, shared).shape;
  struct own_keys keys = own_keys(n, own);
  bool any = false;
  for (uint32_t i = 0; i < s->n && !any; i++) any = names_has_key(&keys, s->fields[i].key);
  map_free(&keys.many);
  return any;
}

/* Returns the event's args, together with those args of its metadata that have the same names. */
static uint32_t with_overruled(struct naming *n, uint32_t own, uint32_t shared) {
  struct tk_trace *t = n->r->t;
  struct tk_args it = tk_args_of(t, own);
  struct own_keys keys = own_keys(n, own);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  for (it = tk_args_of(t, shared); tk_args_next(&it, &arg);) {
    if (!names_has_key(&keys, arg.key)) continue;
    arg.key = prefixed(n, XPLANE_OF_METADATA, arg.key);
    args_copy(t, &arg);
  }
  map_free(&keys.many);
  return args_end(t);
}

/* Keeps overridden stats of metadata. In other formats events have no shared args, so one of the two values would be lost. */
static void keep_overruled(struct naming *n, tk_id first) {
  struct tk_trace *t = n->r->t;
  struct map known; /* class and shape -> 1 = they have a key in common, 2 = they do not */
  map_init(&known, &t->store->mem);
  for (tk_id i = first; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    const uint32_t shared = t->classes[e->cls].args;
    if (!e->args || !shared) continue;
    uint32_t *slot = map_put(&known, (uint64_t)e->cls << 32 | args_shape_of(t, e->args), 0);
    if (!slot) break;
    if (!*slot) *slot = overrules(n, e->args, shared) ? 1 : 2;
    if (*slot == 1) t->events[i].args = with_overruled(n, e->args, shared);
  }
  map_free(&known);
}

/* ---- step names ---- */

static uint32_t with_own_name(struct tk_trace *t, uint32_t args, tk_id name) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  args_str(t, trace_text(t, XPLANE_OWN_NAME), TK_ARG_STR, name);
  return args_end(t);
}

/* xprof displays the step_name of an event as its name. Such events get another class with this name; an arg keeps the original
 * name. */
static void step_names(struct naming *n, tk_id first) {
  struct xplane_reader *r = n->r;
  struct tk_trace *t = r->t;
  struct map derived;
  struct tk_arg arg;
  map_init(&derived, &t->store->mem);
  for (tk_id i = first; i <= t->n_events; i++) {
    struct tk_args it = tk_args_of(t, t->events[i].args);
    tk_id cls = t->events[i].cls, name = 0, *made;
    while (tk_args_next(&it, &arg))
      if (arg.key == n->step_name && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF)) name = arg.s;
    if (!name || name == t->classes[cls].name) continue;
    if ((made = map_put(&derived, (uint64_t)cls << 32 | name, 0)) == NULL) break;
    if (!*made) {
      struct xplane_class from = ((const struct xplane_class *)(const void *)r->classes.data)[cls];
      from.derived = true;
      *made = xplane_new_class(r, from);
      t->classes[*made] = t->classes[cls];
      t->classes[*made].args = with_own_name(t, t->classes[cls].args, t->classes[cls].name);
      t->classes[*made].name = name;
    }
    t->events[i].cls = *made;
  }
  map_free(&derived);
}

/* ---- counters ---- */

/* Returns the counter's name, including the id that JSON counters may have. */
static tk_id name_of_counter(struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  tk_id name = t->classes[e->cls].name;
  while (tk_args_next(&it, &arg))
    if (arg.key == KEY_ID) return trace_counter_name(t, name, &arg);
  return name;
}

/* Assigns the samples on a line "_counters_" to tracks, one per name. */
static void counter_tracks(struct naming *n, struct xplane_line *line) {
  struct tk_trace *t = n->r->t;
  const struct xplane_class *classes = (const struct xplane_class *)(const void *)n->r->classes.data;
  struct map tracks;
  map_init(&tracks, &t->store->mem);
  for (tk_id i = line->first; i < line->first + line->count; i++) {
    struct tk_event *e = &t->events[i];
    struct tk_arg arg;
    struct tk_args it = tk_args_of(t, e->args);
    if (classes[e->cls].series) {
      e->kind = KIND_DEAD;
      line->series = true;
      continue;
    }
    tk_id name = name_of_counter(t, e), *track = map_put(&tracks, name, 0);
    if (!track) break;
    if (!*track) {
      struct tk_track *k = trace_add_track(t);
      *k = (struct tk_track){.kind = TK_TRACK_COUNTERS, .parent = line->process, .name = name};
      *track = t->n_tracks;
    }
    e->track = *track;
    e->kind = TK_EVENT_COUNTER;
    e->dur = 0;
    while (tk_args_next(&it, &arg))
      if (arg.type == TK_ARG_DOUBLE && arg.d - arg.d != 0)
        xplane_note(n->r, TK_NOTE_REPAIR, "counter samples without a numeric value: viewers cannot show them");
  }
  map_free(&tracks);
}

/* ---- data generated for xprof ---- */

/* Drops events that were generated for xprof. A line that only has such events is hidden. */
static void drop_made(struct naming *n, const struct xplane_line *line) {
  struct tk_trace *t = n->r->t;
  const struct xplane_class *classes = (const struct xplane_class *)(const void *)n->r->classes.data;
  uint32_t dropped = 0;
  for (tk_id i = line->first; i < line->first + line->count; i++) {
    if (!classes[t->events[i].cls].made) continue;
    t->events[i].kind = KIND_DEAD;
    dropped++;
  }
  n->r->made += dropped;
  if (dropped && dropped == line->count) t->tracks[line->track].hidden = true;
}

/* ---- all names of a plane ---- */

static void find_keys(struct naming *n) {
  static const char *const links[] = {"flow", "_p", "_c", "correlation_id"};
  struct tk_trace *t = n->r->t;
  n->step_name = trace_text(t, "step_name");
  n->bits = trace_text(t, XPLANE_PRIVATE_BITS);
  n->cat = trace_text(t, XPLANE_PRIVATE_CAT);
  n->long_name = trace_text(t, "long_name");
  for (unsigned i = 0; i < 4; i++) n->links[i] = trace_text(t, links[i]);
  n->link = trace_text(t, XPLANE_LINK_KEY);
}

bool xplane_name_plane(struct xplane_reader *r, struct xplane_plane *plane, uint32_t first_line) {
  struct naming n = {.r = r, .plane = plane};
  struct mem *mem = &r->t->store->mem;
  uint32_t n_lines;
  struct xplane_line *lines = xplane_lines(r, &n_lines);
  tk_id first = first_line < n_lines ? lines[first_line].first : r->t->n_events + 1;
  if (plane->lines == 0) return true;
  map_init(&n.by_key, mem);
  find_keys(&n);
  each_entry(&n, XPLANE_STAT_METADATA, stat_metadata);
  each_entry(&n, XPLANE_EVENT_METADATA, event_metadata);
  name_the_rest(&n);
  if (survey_shapes(&n)) {
    map_free(&r->t->store->shape_index);
    map_init(&r->t->store->shape_index, mem);
    if (n.any & (NEED_REFS | NEED_REBUILD)) finish_events(&n, first);
    finish_classes(&n);
    patch_shapes(&n);
    keep_overruled(&n, first);
    if (n.any & NEED_STEP) step_names(&n, first);
    for (uint32_t i = first_line; i < n_lines; i++) {
      if (lines[i].kind == XLINE_COUNTERS) counter_tracks(&n, &lines[i]);
      if (n.has_made) drop_made(&n, &lines[i]);
      lines[i].links = (n.any & NEED_LINK) != 0;
    }
  }
  if (!r->converted) xplane_mark_unclear(r, plane, first);
  mem_free(mem, n.needs);
  map_free(&n.by_key);
  return mem_check(mem, r->err);
}
