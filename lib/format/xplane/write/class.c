/* class.c - writes event metadata: the classes of a graph as entries in the map of their plane.
 *
 * The metadata of a plane that was read as XPlane is passthrough; metadata of additional classes is appended under new ids. If an
 * operation changed the graph, the original metadata may contain args and names that were removed. In this case, each class in use is
 * written from the graph, under its old id, together with the parts of the original entry that the graph cannot represent:
 * XEventMetadata.metadata and the ids of children. */
#include <string.h>

#include "class.h"
#include "writer.h"

/* Returns the long name of a class, which its metadata contained in addition to a display name; 0 if there is none. */
static tk_id long_name_of(const struct xplane_encoder *e, const struct tk_class *c) {
  struct tk_args it = tk_args_of(e->g->t, c->args);
  struct tk_arg arg;
  return tk_args_next(&it, &arg) && arg.key == e->key_long_name && arg.type == TK_ARG_STR ? arg.s : 0;
}

/* Returns the metadata message of an original entry of the plane. */
static struct pb metadata_of(struct xplane_bytes entry) {
  struct pb plane = pb_over(entry.p, entry.n), c, value;
  struct pb_field f;
  int64_t id;
  if (!entry.p || !pb_next(&plane, &f)) return pb_over("", 0);
  c = pb_inside(&f);
  xplane_entry(&c, &id, &value);
  return value;
}

static void remember_children(struct xplane_encoder *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  uint64_t id = f->value;
  for (bool one = f->wire == PB_VARINT; one || (c.p < c.end && pb_varint(&c, &id)); one = false)
    buf_append(&e->children, &id, sizeof id);
}

/* Appends those original fields of the metadata that the graph cannot represent. */
static void put_unmodelled(struct xplane_encoder *e, struct buf *b, struct pb metadata) {
  struct pb_field f;
  for (const uint8_t *from = metadata.p; pb_next(&metadata, &f); from = metadata.p) {
    if (e->g->bare) continue;
    if (f.number == XEVENT_METADATA_CHILD_ID) remember_children(e, &f);
    if (f.number > XEVENT_METADATA_CHILD_ID) e->lost++; /* a field that no known schema has */
    if (f.number == XEVENT_METADATA_METADATA || f.number == XEVENT_METADATA_CHILD_ID)
      buf_append(b, from, (size_t)(metadata.p - from));
  }
}

/* Additions to a class for xprof: the name for xprof, and the word that marks the class; NULL = none. */
struct class_made {
  const char *name, *word;
  size_t n;
};

static void put_class(struct xplane_encoder *e, int64_t id, const struct tk_class *c, struct xplane_bytes was, struct class_made made) {
  const struct tk_trace *t = e->g->t;
  tk_id long_name = made.name ? 0 : long_name_of(e, c);
  const struct intern_str *name = long_name ? trace_str(t, long_name) : NULL, *shown = c->name ? trace_str(t, c->name) : NULL;
  const struct intern_str *cat = c->cat ? trace_str(t, c->cat) : NULL;
  struct buf b = {.mem = e->mem};
  struct tk_args it = tk_args_of(t, c->args);
  struct tk_arg arg;
  if (!name) name = shown;
  pb_i64(&b, XEVENT_METADATA_KEY, id);
  if (made.name) pb_bytes(&b, XEVENT_METADATA_NAME, made.name, made.n);
  else if (name && name->len) pb_bytes(&b, XEVENT_METADATA_NAME, name->bytes, name->len);
  if (!made.word && !shown && xplane_is_private(e->g, e->process)) made.word = XPLANE_PRIVATE_NAMELESS;
  if (made.word) pb_bytes(&b, XEVENT_METADATA_METADATA, made.word, strlen(made.word));
  if ((long_name || made.name) && shown && shown->len) pb_bytes(&b, XEVENT_METADATA_DISPLAY_NAME, shown->bytes, shown->len);
  if (cat) xplane_add_private_stat(e, &b, XEVENT_METADATA_STATS, XPLANE_PRIVATE_CAT, cat->bytes, cat->len);
  for (bool first = true; tk_args_next(&it, &arg); first = false)
    if (!first || !long_name) xplane_add_stat(e, &b, XEVENT_METADATA_STATS, &arg);
  put_unmodelled(e, &b, metadata_of(was));
  xplane_put_entry(&e->new_classes, XPLANE_EVENT_METADATA, id, &b);
  buf_free(&b);
}

/* True for a name such as "#7", the name of an event whose metadata 7 is missing from the file or whose id does not fit. The
 * number becomes the id again, unless other metadata has this id. */
static bool is_nameless(const struct xplane_graph *g, tk_id cls) {
  char number[24] = "#";
  number[1 + num_put_i64(number + 1, g->classes[cls].id)] = 0;
  return !g->t->classes[cls].args && strcmp(tk_string(g->t, g->t->classes[cls].name, NULL), number) == 0;
}

/* For a pruned plane: returns the old id of the class's metadata, which must be written again; 0 = none. A step uses the
 * metadata of its base class (*cls), whose name an arg of the event contains. */
static int64_t old_class_id(struct xplane_encoder *e, tk_id *cls) {
  const struct xplane_class *was = &e->g->classes[*cls];
  const uint32_t *base = was->derived ? map_get(&e->class_of_id, (uint64_t)was->id) : NULL;
  if (was->series || !was->id || (was->derived && !base)) return 0;
  if (base) *cls = *base;
  return was->id;
}

static int64_t add_class(struct xplane_encoder *e, tk_id cls) {
  const bool known = e->process && xplane_class_is_of(e->g, cls, e->process);
  struct xplane_bytes was = {0};
  tk_id base = cls;
  int64_t id;
  if (known && is_nameless(e->g, cls)) return e->g->classes[cls].id;
  id = known && e->g->pruned ? old_class_id(e, &base) : 0;
  if (base != cls) {
    id = xplane_class_id(e, base);
  } else {
    if (id) was = xplane_unwritten_class(e, id);
    if (id || !e->g->carried) put_class(e, id ? id : e->next_class, &e->g->t->classes[cls], was, (struct class_made){0});
    if (!id) id = e->next_class++;
  }
  const uint32_t slot = xplane_slot_of(e, id);
  if (slot) map_put(&e->classes, cls, slot);
  return id;
}

int64_t xplane_class_id(struct xplane_encoder *e, tk_id cls) {
  const uint32_t *slot = map_get(&e->classes, cls);
  return slot ? xplane_id_of(e, *slot) : add_class(e, cls);
}

int64_t xplane_variant_id(struct xplane_encoder *e, tk_id cls, uint32_t variant, const char *name, size_t n) {
  uint32_t *slot = map_put(&e->classes, (uint64_t)(UINT32_MAX - variant) << 32 | cls, 0);
  const struct class_made made = {name, name ? XPLANE_PRIVATE_NAMED : XPLANE_PRIVATE_MADE, n};
  if (!slot) return 0;
  if (*slot) return xplane_id_of(e, *slot);
  *slot = xplane_slot_of(e, e->next_class);
  put_class(e, e->next_class, &e->g->t->classes[cls], (struct xplane_bytes){0}, made);
  return e->next_class++;
}

/* Writes args that contain values of the metadata as its stats. *name becomes the metadata's name, if another name is
 * displayed. */
static void put_overruled(struct xplane_encoder *e, uint32_t args, struct buf *stats, tk_id *name) {
  struct tk_args it = tk_args_of(e->g->t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) {
    const uint32_t *key = map_get(&e->g->overruling, arg.key);
    if (!key) continue;
    arg.key = *key;
    if (arg.key == e->key_long_name && arg.type == TK_ARG_STR) *name = arg.s;
    else xplane_add_stat(e, stats, XEVENT_METADATA_STATS, &arg);
  }
}

int64_t xplane_overruled_class_id(struct xplane_encoder *e, const struct tk_event *ev) {
  const struct tk_trace *t = e->g->t;
  const struct intern_str *shown = trace_str(t, t->classes[ev->cls].name);
  struct buf stats = {.mem = e->mem}, b = {.mem = e->mem};
  tk_id name = 0;
  put_overruled(e, ev->args, &stats, &name);
  uint64_t hash = hash_pair(hash_text(stats.data, stats.len), (uint64_t)ev->cls << 32 | name);
  uint32_t *slot = map_put(&e->overruled_classes, hash, 0);
  if (slot && !*slot) {
    *slot = xplane_slot_of(e, e->next_class);
    pb_i64(&b, XEVENT_METADATA_KEY, e->next_class);
    if (name) pb_bytes(&b, XEVENT_METADATA_NAME, trace_str(t, name)->bytes, trace_str(t, name)->len);
    pb_bytes(&b, name ? XEVENT_METADATA_DISPLAY_NAME : XEVENT_METADATA_NAME, shown->bytes, shown->len);
    buf_append(&b, stats.data, stats.len);
    if (!e->g->carried) xplane_put_entry(&e->new_classes, XPLANE_EVENT_METADATA, e->next_class, &b);
    e->next_class++;
  }
  buf_free(&stats);
  buf_free(&b);
  return slot ? xplane_id_of(e, *slot) : 0;
}

/* Returns the id of original metadata with this name; 0 if there is none. */
static int64_t known_class(struct xplane_encoder *e, const struct buf *name) {
  const struct xplane_graph *g = e->g;
  const tk_id text = xplane_find_text(g->t, name->data, name->len);
  uint32_t n;
  const uint32_t *classes = by_process(&g->of_classes, e->process, &n), *known;
  for (uint32_t i = 0; e->class_of_name.n == 0 && i < n; i++)
    map_put(&e->class_of_name, g->t->classes[classes[i]].name, classes[i]);
  known = text ? map_get(&e->class_of_name, text) : NULL;
  known = known ? map_get(&e->classes, *known) : NULL;
  return known ? xplane_id_of(e, *known) : 0;
}

/* Returns the id of metadata for a series of a counter, with the name "<counter> <series>". */
int64_t xplane_series_id(struct xplane_encoder *e, tk_id cls, tk_id series) {
  const struct tk_trace *t = e->g->t;
  const struct intern_str *name = trace_str(t, t->classes[cls].name), *key = trace_str(t, series);
  uint32_t *slot = map_put(&e->classes, (uint64_t)series << 32 | cls, 0);
  if (!slot) return 0;
  if (*slot) return xplane_id_of(e, *slot);
  struct buf b = {.mem = e->mem}, text = {.mem = e->mem};
  buf_append(&text, name->bytes, name->len);
  buf_text(&text, " ");
  buf_append(&text, key->bytes, key->len);
  int64_t id = known_class(e, &text);
  if (!id) {
    id = e->next_class++;
    pb_i64(&b, XEVENT_METADATA_KEY, id);
    pb_bytes(&b, XEVENT_METADATA_NAME, text.data, text.len);
    pb_bytes(&b, XEVENT_METADATA_METADATA, XPLANE_PRIVATE_SERIES, strlen(XPLANE_PRIVATE_SERIES));
    if (!e->g->carried) xplane_put_entry(&e->new_classes, XPLANE_EVENT_METADATA, id, &b);
  }
  *slot = xplane_slot_of(e, id);
  buf_free(&text);
  buf_free(&b);
  return id;
}

/* ---- children, and metadata that is kept unchanged ---- */

void xplane_use_class(struct xplane_encoder *e, int64_t id) {
  const struct xplane_bytes entry = e->g->pruned ? xplane_unwritten_class(e, id) : (struct xplane_bytes){0};
  struct buf b = {.mem = e->mem};
  struct pb metadata = metadata_of(entry), again = metadata;
  struct pb_field f;
  if (!entry.p) return;
  for (const uint8_t *from = again.p; pb_next(&again, &f); from = again.p) {
    if (f.number == XEVENT_METADATA_METADATA || f.number >= XEVENT_METADATA_CHILD_ID) continue;
    if (f.number == XEVENT_METADATA_STATS) xplane_use_stat(e, pb_inside(&f));
    buf_append(&b, from, (size_t)(again.p - from));
  }
  put_unmodelled(e, &b, metadata);
  xplane_put_entry(&e->new_classes, XPLANE_EVENT_METADATA, id, &b);
  buf_free(&b);
}

/* Writes metadata that no event has. The graph does not show which stats of such metadata an operation dropped, so only stats whose
 * names are used elsewhere are kept. */
static void put_child(struct xplane_encoder *e, int64_t id, struct pb metadata) {
  struct buf b = {.mem = e->mem};
  struct pb again = metadata, stat;
  struct pb_field f;
  struct xstat s;
  bool odd = false;
  for (const uint8_t *from = again.p; pb_next(&again, &f); from = again.p) {
    if (f.number == XEVENT_METADATA_METADATA || f.number >= XEVENT_METADATA_CHILD_ID) continue;
    stat = pb_inside(&f);
    if (f.number == XEVENT_METADATA_STATS && (!xplane_stat(&stat, &s, &odd) || !xplane_stat_is_used(e, s.id))) continue;
    if (f.number == XEVENT_METADATA_STATS) xplane_use_stat(e, pb_inside(&f));
    buf_append(&b, from, (size_t)(again.p - from));
  }
  put_unmodelled(e, &b, metadata);
  xplane_put_entry(&e->new_classes, XPLANE_EVENT_METADATA, id, &b);
  buf_free(&b);
}

void xplane_put_children(struct xplane_encoder *e) {
  int64_t id;
  while (e->children.len) {
    e->children.len -= sizeof id;
    memcpy(&id, e->children.data + e->children.len, sizeof id);
    const uint32_t *cls = map_get(&e->class_of_id, (uint64_t)id);
    if (cls) xplane_class_id(e, *cls);
    struct xplane_bytes entry = xplane_unwritten_class(e, id);
    if (entry.p) put_child(e, id, metadata_of(entry));
  }
}
