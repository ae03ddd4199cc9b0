/* writer.c - writes stats, and the maps of a plane that name its events and stats (writer.h).
 *
 * Types that an XStat does not have (decimals, JSON, booleans) are stored as the closest type that it has, and the description
 * of the stat's metadata contains the original type: xprof shows the value, and reading it back restores the arg. */
#include <string.h>

#include "base/utf8.h"
#include "writer.h"

/* ---- types ---- */

static const struct {
  uint8_t field;
  const char *description; /* description of the stat's metadata; "" = the XStat's type is enough */
} TYPES[TK_ARG_TYPES] = {
    [TK_ARG_NULL] = {0, ""},
    [TK_ARG_FALSE] = {XSTAT_INT64, XPLANE_PRIVATE_TYPE "bool"},
    [TK_ARG_TRUE] = {XSTAT_INT64, XPLANE_PRIVATE_TYPE "bool"},
    [TK_ARG_INT] = {XSTAT_INT64, ""},
    [TK_ARG_UINT] = {XSTAT_UINT64, ""},
    [TK_ARG_DECIMAL] = {XSTAT_DOUBLE, XPLANE_PRIVATE_TYPE XPLANE_PRIVATE_DECIMAL}, /* followed by the exponent */
    [TK_ARG_DOUBLE] = {XSTAT_DOUBLE, ""},
    [TK_ARG_STR] = {XSTAT_STR, ""},
    [TK_ARG_NUMBER] = {XSTAT_STR, XPLANE_PRIVATE_TYPE "number"},
    [TK_ARG_JSON] = {XSTAT_STR, XPLANE_PRIVATE_TYPE "json"},
    [TK_ARG_BYTES] = {XSTAT_BYTES, ""},
    [TK_ARG_REF] = {XSTAT_REF, ""},
    [TK_ARG_POINTER] = {XSTAT_UINT64, XPLANE_PRIVATE_TYPE "pointer"},
};

/* True if a double represents the decimal exactly. */
static bool is_exact(const struct tk_arg *a) {
  return a->exp >= -XPLANE_MAX_EXP && a->exp <= XPLANE_MAX_EXP && a->i < XPLANE_MAX_MANT && a->i > -XPLANE_MAX_MANT;
}

/* Returns the family of an arg. Stat metadata is identified by name and description; args of the same family share it. */
static unsigned family(const struct tk_arg *a) {
  if (a->type == TK_ARG_DECIMAL) return is_exact(a) ? (unsigned)(XPLANE_DECIMAL + a->exp) : TK_ARG_NUMBER;
  if (!*TYPES[a->type].description) return 0;
  return a->type == TK_ARG_FALSE ? TK_ARG_TRUE : a->type;
}

static const char *description_of(unsigned types, char room[40]) {
  size_t n;
  if (types < TK_ARG_TYPES) return types ? TYPES[types].description : "";
  n = strlen(TYPES[TK_ARG_DECIMAL].description);
  memcpy(room, TYPES[TK_ARG_DECIMAL].description, n);
  n += num_put_i64(room + n, (int64_t)types - XPLANE_DECIMAL);
  room[n] = 0;
  return room;
}

enum { FOR_LINKS = 254, FOR_XPROF }; /* indices of descriptions: the stat contains a flow point; the stat is only for xprof */

static bool writer_is_text(const struct pb_field *f, const char *text) {
  return f->value == strlen(text) && memcmp(f->p, text, (size_t)f->value) == 0;
}

static unsigned family_of(const struct pb_field *description) {
  char room[40];
  if (writer_is_text(description, XPLANE_PRIVATE_XPROF)) return FOR_XPROF;
  if (writer_is_text(description, XPLANE_PRIVATE_LINK)) return FOR_LINKS;
  for (unsigned i = 1; i <= XPLANE_DECIMAL + XPLANE_MAX_EXP; i++) {
    if (i >= TK_ARG_TYPES && i < XPLANE_DECIMAL - XPLANE_MAX_EXP) continue;
    const char *text = i == TK_ARG_FALSE || i == TK_ARG_DECIMAL ? "" : description_of(i, room);
    if (*text && writer_is_text(description, text)) return i;
  }
  return 0;
}

tk_id xplane_find_text(const struct tk_trace *t, const void *p, size_t n) {
  return intern_id(&t->store->strings, p, n);
}

/* ---- entries of maps ---- */

void xplane_put_entry(struct buf *b, uint32_t number, int64_t key, const struct buf *value) {
  struct buf entry = {.mem = b->mem};
  pb_i64(&entry, MAP_KEY, key);
  pb_message(&entry, MAP_VALUE, value);
  pb_message(b, number, &entry);
  buf_free(&entry);
}

static int64_t new_stat(struct xplane_encoder *e, const void *name, size_t n, const char *description) {
  struct buf b = {.mem = e->mem};
  int64_t id = e->next_stat++;
  pb_i64(&b, XSTAT_METADATA_KEY, id);
  if (n) pb_bytes(&b, XSTAT_METADATA_NAME, name, n);
  if (*description) pb_bytes(&b, XSTAT_METADATA_DESCRIPTION, description, strlen(description));
  xplane_put_entry(&e->new_stats, XPLANE_STAT_METADATA, id, &b);
  buf_free(&b);
  return id;
}

/* Returns the original entry on the first call for an id; an empty entry afterwards or if there is none. */
static struct xplane_bytes unwritten_entry(const struct xplane_encoder *e, struct map *entries, int64_t id) {
  uint32_t *at = map_get(entries, (uint64_t)id);
  struct xplane_bytes entry = {0};
  if (!at || !*at) return entry;
  entry = ((const struct xplane_bytes *)(const void *)e->entries.data)[*at - 1];
  *at = 0;
  return entry;
}

struct xplane_bytes xplane_unwritten_class(struct xplane_encoder *e, int64_t id) {
  return unwritten_entry(e, &e->class_entries, id);
}

static void remember_entry(struct xplane_encoder *e, struct map *entries, int64_t id, struct xplane_bytes entry) {
  uint32_t *at = map_put(entries, (uint64_t)id, 0);
  if (at && buf_append(&e->entries, &entry, sizeof entry)) *at = (uint32_t)(e->entries.len / sizeof entry);
}

/* For a pruned plane: writes the entry of a stat when it is first used. */
static void use_stat(struct xplane_encoder *e, int64_t id) {
  if (!e->g->pruned) return;
  struct xplane_bytes entry = unwritten_entry(e, &e->stat_entries, id);
  if (entry.p) buf_append(&e->new_stats, entry.p, entry.n);
}

bool xplane_stat_is_used(const struct xplane_encoder *e, int64_t id) {
  const uint32_t *at = map_get(&e->stat_entries, (uint64_t)id);
  return !at || !*at;
}

void xplane_use_stat(struct xplane_encoder *e, struct pb stat) {
  struct xstat s;
  bool odd = false;
  xplane_stat(&stat, &s, &odd);
  use_stat(e, s.id);
  if (s.field == XSTAT_REF) use_stat(e, (int64_t)s.value);
}

/* ---- ids of stats ---- */

tk_id xplane_stat_name(const struct xplane_encoder *e, tk_id key) {
  size_t n, own = strlen(XPLANE_EARLIER);
  const char *text = tk_string(e->g->t, key, &n);
  tk_id name;
  if (n <= own || *text != 'x' || memcmp(text, XPLANE_EARLIER, own) != 0) return key;
  while (n > 2 * own && memcmp(text + own, XPLANE_EARLIER, own) == 0) text += own, n -= own;
  name = xplane_find_text(e->g->t, text + own, n - own);
  return name ? name : key;
}

unsigned xplane_field_of(unsigned type) { return *TYPES[type].description ? 0 : TYPES[type].field; }

/* Slots with this bit contain an index in `wide`. */
static const uint32_t WIDE = (uint32_t)1 << 31;

uint32_t xplane_slot_of(struct xplane_encoder *e, int64_t id) {
  if (id >= 0 && id < WIDE) return (uint32_t)id;
  const size_t at = e->wide.len / sizeof id;
  return at < WIDE && buf_append(&e->wide, &id, sizeof id) ? WIDE + (uint32_t)at : 0;
}

int64_t xplane_id_of(const struct xplane_encoder *e, uint32_t slot) {
  int64_t id = slot;
  if (slot >= WIDE) memcpy(&id, e->wide.data + (slot - WIDE) * sizeof id, sizeof id);
  return id;
}

int64_t xplane_known_stat(const struct xplane_encoder *e, tk_id key) {
  const uint32_t *slot = map_get(&e->stats, (uint64_t)xplane_stat_name(e, key) << 8);
  return slot ? xplane_id_of(e, *slot) : 0;
}

/* Returns the id of stat metadata, adding it if necessary. */
static int64_t stat_id(struct xplane_encoder *e, tk_id name, unsigned types) {
  uint32_t *slot = map_put(&e->stats, (uint64_t)name << 8 | types, 0);
  size_t n;
  const char *text;
  if (!slot) return 0;
  if (*slot) {
    const int64_t known = xplane_id_of(e, *slot);
    use_stat(e, known);
    return known;
  }
  text = tk_string(e->g->t, name, &n);
  char room[40];
  /* an arg that an operation added; the format that embeds the plane contains the arg itself */
  int64_t id = e->g->carried ? e->next_stat++ : new_stat(e, text, n, description_of(types, room));
  slot = map_get(&e->stats, (uint64_t)name << 8 | types);
  *slot = xplane_slot_of(e, id);
  return id;
}

/* Returns the value of a ref stat: the id of the stat metadata with this name. Returns 0 for an empty text, unless the plane
 * has stat metadata with an empty name. */
static int64_t ref_id(struct xplane_encoder *e, tk_id text) {
  const uint32_t *known = text == KEY_EMPTY ? map_get(&e->stats, (uint64_t)text << 8) : NULL;
  if (known) use_stat(e, xplane_id_of(e, *known));
  if (text == KEY_EMPTY) return known ? xplane_id_of(e, *known) : 0;
  return stat_id(e, text, 0);
}

/* ---- original contents of the maps ---- */

/* Largest id of the file that leaves room for new ids above it. */
static const int64_t MOST_ID = INT64_MAX - UINT32_MAX;

/* Stores the id for a key that has none yet. */
static void put_new_id(struct xplane_encoder *e, struct map *ids, uint64_t key, int64_t id) {
  if (map_get(ids, key)) return;
  const uint32_t value = xplane_slot_of(e, id);
  if (value) map_put(ids, key, value);
}

static void learn_stat(struct xplane_encoder *e, const struct pb_field *field, struct xplane_bytes entry) {
  struct pb c = pb_inside(field), v;
  struct pb_field f, name = {.p = (const uint8_t *)""}, description = {.p = (const uint8_t *)""};
  int64_t id;
  unsigned types = 0;
  xplane_entry(&c, &id, &v);
  while (pb_next(&v, &f)) {
    if (pb_field_key(&f) == PB_KEY(XSTAT_METADATA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(XSTAT_METADATA_DESCRIPTION, PB_BYTES)) description = f;
  }
  if (description.value) types = family_of(&description);
  if (id >= e->next_stat && id < MOST_ID) e->next_stat = id + 1;
  tk_id text = xplane_find_text(e->g->t, name.p, (size_t)name.value);
  if (text && id) put_new_id(e, &e->stats, (uint64_t)text << 8 | types, id);
  if (e->g->pruned) remember_entry(e, &e->stat_entries, id, entry);
}

struct xplane_bytes xplane_shown_name(struct pb metadata) {
  struct pb_field f, name = {.p = (const uint8_t *)""}, display = {.p = (const uint8_t *)""};
  while (pb_next(&metadata, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_DISPLAY_NAME, PB_BYTES)) display = f;
  }
  return xplane_bytes_of(display.value ? &display : &name);
}

bool xplane_bears_name(const struct tk_trace *t, tk_id cls, struct pb metadata) {
  const struct xplane_bytes name = xplane_shown_name(metadata);
  const struct intern_str *s = trace_str(t, t->classes[cls].name);
  if (!utf8_valid(name.p, name.n)) return true; /* such a name was repaired when it was read */
  return s->len == name.n && (name.n == 0 || memcmp(s->bytes, name.p, name.n) == 0);
}

/* Reuses event metadata for its class if both have the same name; in a pruned plane, the metadata is written from the class. */
static void learn_class(struct xplane_encoder *e, const struct pb_field *field, struct xplane_bytes entry) {
  struct pb c = pb_inside(field), v;
  int64_t id;
  xplane_entry(&c, &id, &v);
  if (id >= e->next_class && id < MOST_ID) e->next_class = id + 1;
  if (e->g->pruned) {
    remember_entry(e, &e->class_entries, id, entry);
    return;
  }
  const uint32_t *cls = map_get(&e->class_of_id, (uint64_t)id);
  if (cls && id && xplane_bears_name(e->g->t, *cls, v)) put_new_id(e, &e->classes, *cls, id);
}

bool xplane_class_is_of(const struct xplane_graph *g, tk_id cls, tk_id process) {
  return cls < g->n_classes && cls <= g->t->n_classes && g->classes[cls].process == process;
}

void xplane_classes_by_id(const struct xplane_graph *g, tk_id process, struct map *by_id) {
  uint32_t n;
  const uint32_t *classes = by_process(&g->of_classes, process, &n);
  for (uint32_t i = 0; i < n; i++)
    if (!g->classes[classes[i]].derived) map_put(by_id, (uint64_t)g->classes[classes[i]].id, classes[i]);
}

static void learn_maps(struct xplane_encoder *e) {
  const struct xplane_graph *g = e->g;
  struct pb c = xplane_fields(g->t, e->was);
  struct pb_field f;
  uint32_t n;
  const uint32_t *classes = by_process(&g->of_classes, e->process, &n);
  xplane_classes_by_id(g, e->process, &e->class_of_id);
  for (uint32_t i = 0; i < n; i++) {
    const int64_t id = g->classes[classes[i]].id;
    if (id >= e->next_class && id < MOST_ID) e->next_class = id + 1;
  }
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    const struct xplane_bytes entry = {from, (size_t)(c.p - from)};
    if (pb_field_key(&f) == PB_KEY(XPLANE_STAT_METADATA, PB_BYTES)) learn_stat(e, &f, entry);
    if (pb_field_key(&f) == PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) learn_class(e, &f, entry);
  }
  for (uint32_t i = 0; !g->pruned && i < n; i++) { /* an arg of the event contains the name of a step */
    const struct xplane_class *was = &g->classes[classes[i]];
    if (was->derived && was->id) put_new_id(e, &e->classes, classes[i], was->id);
  }
}

static void learn_compressed(void *arg, int64_t id, unsigned field) {
  struct xplane_encoder *e = arg;
  if (field == XSTAT_COMPRESSED_STR) map_put(&e->compressed, (uint64_t)id, 1);
}

void xplane_encoder_init(struct xplane_encoder *e, const struct xplane_graph *g, tk_id process, const struct xplane_plane *was,
                         struct mem *mem) {
  *e = (struct xplane_encoder){.mem = mem, .g = g, .process = process, .was = was, .next_class = 1, .next_stat = 1};
  e->new_classes.mem = e->new_stats.mem = e->event.mem = e->stat.mem = e->inner.mem = e->lines.mem = mem;
  e->entries.mem = e->children.mem = e->fields.mem = e->wide.mem = mem;
  map_init(&e->classes, mem);
  map_init(&e->stats, mem);
  map_init(&e->class_of_id, mem);
  map_init(&e->class_entries, mem);
  map_init(&e->compressed, mem);
  map_init(&e->overruled_classes, mem);
  map_init(&e->class_of_name, mem);
  map_init(&e->stat_entries, mem);
  e->key_flow = xplane_find_text(g->t, "flow", 4);
  e->key_long_name = xplane_find_text(g->t, "long_name", 9);
  e->key_metadata_id = xplane_find_text(g->t, XPLANE_METADATA_ID, strlen(XPLANE_METADATA_ID));
  if (was) learn_maps(e);
  if (was) xplane_each_type(g->t, was, learn_compressed, e);
  e->first_new_stat = e->next_stat;
}

void xplane_encoder_free(struct xplane_encoder *e) {
  map_free(&e->classes);
  map_free(&e->stats);
  map_free(&e->class_of_id);
  map_free(&e->class_entries);
  map_free(&e->compressed);
  map_free(&e->overruled_classes);
  map_free(&e->class_of_name);
  map_free(&e->stat_entries);
  buf_free(&e->new_classes);
  buf_free(&e->new_stats);
  buf_free(&e->event);
  buf_free(&e->stat);
  buf_free(&e->inner);
  buf_free(&e->lines);
  buf_free(&e->entries);
  buf_free(&e->children);
  buf_free(&e->fields);
  buf_free(&e->wide);
  mem_free(e->mem, e->counters);
}

/* ---- stats ---- */

static uint64_t bits_of(double d) {
  union {
    double d;
    uint64_t u;
  } v = {d};
  return v.u;
}

/* Appends the stat to b as field `number`. */
void xplane_add_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const struct tk_arg *a) {
  struct buf *s = &e->stat;
  const struct intern_str *text = trace_str(e->g->t, a->type >= TK_ARG_STR && a->type <= TK_ARG_REF ? a->s : 0);
  int64_t ref = a->type == TK_ARG_REF ? ref_id(e, a->s) : 0;
  char digits[96];
  const int64_t id = stat_id(e, xplane_stat_name(e, a->key), family(a));
  s->len = 0;
  pb_i64(s, XSTAT_METADATA_ID, id);
  switch (TYPES[a->type].field) {
    case XSTAT_DOUBLE:
      if (a->type == TK_ARG_DOUBLE) pb_fixed64(s, XSTAT_DOUBLE, bits_of(a->d));
      else if (is_exact(a)) pb_fixed64(s, XSTAT_DOUBLE, bits_of(xplane_decimal(a->i, a->exp)));
      else pb_bytes(s, XSTAT_STR, digits, num_put_decimal(digits, a->i, a->exp));
      break;
    case XSTAT_UINT64: pb_u64(s, XSTAT_UINT64, a->u); break;
    case XSTAT_INT64: pb_i64(s, XSTAT_INT64, a->type == TK_ARG_INT ? a->i : a->type == TK_ARG_TRUE); break;
    case XSTAT_REF: pb_i64(s, XSTAT_REF, ref); break;
    case XSTAT_STR: pb_bytes(s, XSTAT_STR, text->bytes, text->len); break;
    case XSTAT_BYTES: pb_bytes(s, xplane_bytes_field(e, id), text->bytes, text->len); break;
    default: break;
  }
  pb_message(b, number, s);
}

unsigned xplane_bytes_field(const struct xplane_encoder *e, int64_t id) {
  return map_get(&e->compressed, (uint64_t)id) ? XSTAT_COMPRESSED_STR : XSTAT_BYTES;
}

void xplane_add_bytes_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, tk_id key, struct xplane_bytes bytes) {
  const int64_t id = stat_id(e, xplane_stat_name(e, key), 0);
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_bytes(&e->stat, xplane_bytes_field(e, id), bytes.p, bytes.n);
  pb_message(b, number, &e->stat);
}

int64_t xplane_private_stat_id(struct xplane_encoder *e, const char *name, const char *description) {
  tk_id text = xplane_find_text(e->g->t, name, strlen(name));
  const unsigned types = !*description ? 0 : strcmp(description, XPLANE_PRIVATE_LINK) ? FOR_XPROF : FOR_LINKS;
  uint64_t key = text ? (uint64_t)text << 8 | types : (hash_text(name, strlen(name)) << 8 | types | (uint64_t)1 << 63);
  uint32_t *slot = map_get(&e->stats, key);
  int64_t id;
  if (slot) {
    id = xplane_id_of(e, *slot);
    use_stat(e, id);
    return id;
  }
  id = new_stat(e, name, strlen(name), description);
  put_new_id(e, &e->stats, key, id);
  return id;
}

void xplane_add_private_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, const void *text,
                         size_t n) {
  int64_t id = xplane_private_stat_id(e, name, "");
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_bytes(&e->stat, XSTAT_STR, text, n);
  pb_message(b, number, &e->stat);
}

void xplane_add_private_int(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, int64_t v) {
  int64_t id = xplane_private_stat_id(e, name, "");
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_i64(&e->stat, XSTAT_INT64, v);
  pb_message(b, number, &e->stat);
}
