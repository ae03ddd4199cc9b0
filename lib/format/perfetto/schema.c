/* schema.c - reads a file's description of its extensions, in the form that protobuf's compiler generates
 * (google/protobuf/descriptor.proto).
 *
 * It uses a cursor rather than protobuf-c, because the file determines how deep messages are nested. Messages that are deeper
 * than LEVELS or damaged are skipped; their fields are then known only by number. */
#include <string.h>

#include "schema.h"

#include "fields.h"

enum {
  LEVELS = 16,
  DESCRIPTOR_SET = 1, /* field ExtensionDescriptor.extension_set */
  SET_FILE = 1,
  FILE_PACKAGE = 2,
  FILE_MESSAGE = 4,
  FILE_ENUM = 5,
  FILE_EXTENSION = 7,
  MESSAGE_NAME = 1,
  MESSAGE_FIELD = 2,
  MESSAGE_NESTED = 3,
  MESSAGE_ENUM = 4,
  MESSAGE_EXTENSION = 6,
  FIELD_NAME = 1,
  FIELD_EXTENDEE = 2,
  FIELD_NUMBER = 3,
  FIELD_LABEL = 4,
  FIELD_KIND = 5,
  FIELD_TYPE_NAME = 6,
  LABEL_REPEATED = 3,
  ENUM_NAME = 1,
  ENUM_VALUE = 2,
  VALUE_NAME = 1,
  VALUE_NUMBER = 2
};

static const char EVENT[] = ".perfetto.protos.TrackEvent";

void schema_init(struct schema *s, struct mem *mem) {
  *s = (struct schema){.mem = mem, .path = {.mem = mem}};
  intern_init(&s->text, mem);
  map_init(&s->by_number, mem);
  map_init(&s->by_name, mem);
  map_init(&s->enum_names, mem);
  map_init(&s->enum_numbers, mem);
}

void schema_free(struct schema *s) {
  if (!s->mem) return;
  intern_free(&s->text);
  map_free(&s->by_number);
  map_free(&s->by_name);
  map_free(&s->enum_names);
  map_free(&s->enum_numbers);
  mem_free(s->mem, s->fields);
  buf_free(&s->path);
}

/* ---- lookup ---- */

bool schema_is_modelled(uint32_t number) {
  switch (number) {
  case EVENT_TIMESTAMP_DELTA_US:
  case EVENT_THREAD_TIME_DELTA_US:
  case EVENT_CATEGORY_IIDS:
  case EVENT_DEBUG_ANNOTATIONS:
  case EVENT_LEGACY:
  case EVENT_INSTRUCTIONS_DELTA:
  case EVENT_TYPE:
  case EVENT_NAME_IID:
  case EVENT_TRACK_UUID:
  case EVENT_EXTRA_VALUES:
  case EVENT_TIMESTAMP_ABSOLUTE_US:
  case EVENT_THREAD_TIME_ABSOLUTE_US:
  case EVENT_INSTRUCTIONS_ABSOLUTE:
  case EVENT_CATEGORIES:
  case EVENT_NAME:
  case EVENT_COUNTER_VALUE:
  case EVENT_EXTRA_UUIDS:
  case EVENT_FLOW_IDS_OLD:
  case EVENT_TERMINATING_FLOW_IDS_OLD:
  case EVENT_DOUBLE_COUNTER_VALUE:
  case EVENT_EXTRA_DOUBLE_UUIDS:
  case EVENT_EXTRA_DOUBLE_VALUES:
  case EVENT_FLOW_IDS:
  case EVENT_TERMINATING_FLOW_IDS:
  case EVENT_CORRELATION_ID:
  case EVENT_CORRELATION_ID_STR:
  case EVENT_CORRELATION_ID_IID: return true;
  default: return false;
  }
}

enum pb_wire schema_wire(const struct schema_field *field) {
  switch (field->type) {
  case FIELD_DOUBLE:
  case FIELD_FIXED64:
  case FIELD_SFIXED64: return PB_FIXED64;
  case FIELD_FLOAT:
  case FIELD_FIXED32:
  case FIELD_SFIXED32: return PB_FIXED32;
  case FIELD_STRING:
  case FIELD_BYTES:
  case FIELD_MESSAGE: return PB_BYTES;
  case FIELD_GROUP: return PB_GROUP;
  default: return PB_VARINT;
  }
}

static uint64_t pair(uint32_t of, uint32_t what) { return (uint64_t)of << 32 | what; }

static uint32_t find_text(const struct schema *s, const void *p, size_t n) {
  return s->n ? intern_id(&s->text, p, n) : 0;
}

const struct schema_field *schema_by_number(const struct schema *s, uint32_t message, uint32_t number) {
  const uint32_t *at = map_get(&s->by_number, pair(message, number));
  return at ? &s->fields[*at] : NULL;
}

const struct schema_field *schema_by_name(const struct schema *s, uint32_t message, const void *name, size_t n) {
  uint32_t text = find_text(s, name, n), *at = text ? map_get(&s->by_name, pair(message, text)) : NULL;
  return at ? &s->fields[*at] : NULL;
}

static bool has_same_text(const struct schema *a, uint32_t x, const struct schema *b, uint32_t y) {
  if (!x || !y) return x == y;
  const struct intern_str *p = &a->text.strs[x], *q = &b->text.strs[y];
  return p->len == q->len && memcmp(p->bytes, q->bytes, p->len) == 0;
}

bool schema_conflicts(const struct schema *a, const struct schema *b) {
  for (uint32_t i = 1; i <= b->n; i++) {
    const struct schema_field *f = &b->fields[i], *other = schema_by_number(a, a->event, f->number);
    if (!other || schema_by_number(b, b->event, f->number) != f) continue;
    if (other->type != f->type || !has_same_text(a, other->name, b, f->name) || !has_same_text(a, other->of, b, f->of)) return true;
  }
  return false;
}

uint32_t schema_enum_name(const struct schema *s, uint32_t of, int64_t number) {
  const uint32_t *at = map_get(&s->enum_names, pair(of, (uint32_t)number));
  return at && number == (int32_t)number ? *at : 0;
}

bool schema_enum_number(const struct schema *s, uint32_t of, const void *name, size_t n, int64_t *number) {
  uint32_t text = find_text(s, name, n), *at = text ? map_get(&s->enum_numbers, pair(of, text)) : NULL;
  if (at) *number = (int32_t)*at;
  return at != NULL;
}

/* ---- reading ---- */

static uint32_t schema_text_of(struct schema *s, const struct pb_field *f) { return intern(&s->text, f->p, (size_t)f->value); }

static void read_field(struct schema *s, const struct pb_field *from, uint32_t message) {
  struct schema_field field = {0};
  struct pb c = pb_inside(from);
  struct pb_field f;
  uint32_t extendee = 0;
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(FIELD_NAME, PB_BYTES): field.name = schema_text_of(s, &f); break;
    case PB_KEY(FIELD_EXTENDEE, PB_BYTES): extendee = schema_text_of(s, &f); break;
    case PB_KEY(FIELD_NUMBER, PB_VARINT): field.number = (uint32_t)f.value; break;
    case PB_KEY(FIELD_LABEL, PB_VARINT): field.repeated = f.value == LABEL_REPEATED; break;
    case PB_KEY(FIELD_KIND, PB_VARINT): field.type = (uint8_t)(f.value <= FIELD_SINT64 ? f.value : 0); break;
    case PB_KEY(FIELD_TYPE_NAME, PB_BYTES): field.of = schema_text_of(s, &f); break;
    default: break;
    }
  }
  if (!message) message = extendee;
  if (message == s->event && schema_is_modelled(field.number)) return; /* built-in field, whose name an ordinary arg may have */
  if (c.fault) s->damaged = true;
  if (c.fault || !field.name || !field.number || !field.type || !message) return;
  if (!mem_grow(s->mem, (void **)&s->fields, &s->cap, (uint64_t)s->n + 2, sizeof field)) return;
  s->fields[++s->n] = field;
  map_put(&s->by_number, pair(message, field.number), s->n);
  map_put(&s->by_name, pair(message, field.name), s->n);
}

static void read_value(struct schema *s, const struct pb_field *from, uint32_t of) {
  struct pb c = pb_inside(from);
  struct pb_field f;
  uint32_t name = 0, number = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(VALUE_NAME, PB_BYTES)) name = schema_text_of(s, &f);
    else if (pb_field_key(&f) == PB_KEY(VALUE_NUMBER, PB_VARINT)) number = (uint32_t)f.value;
  }
  if (c.fault) s->damaged = true;
  if (!name) return;
  map_put(&s->enum_names, pair(of, number), name);
  map_put(&s->enum_numbers, pair(of, name), number);
}

/* Appends ".name" of a message or an enum to the path, which becomes its full name. Returns the name's text id. */
static uint32_t open_scope(struct schema *s, const struct pb_field *from, uint32_t name_field) {
  struct pb c = pb_inside(from);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(name_field, PB_BYTES)) {
      buf_append(&s->path, ".", 1);
      buf_append(&s->path, f.p, (size_t)f.value);
      return intern(&s->text, s->path.data, s->path.len);
    }
  return 0;
}

static void read_enum(struct schema *s, const struct pb_field *from) {
  struct pb c = pb_inside(from);
  struct pb_field f;
  size_t outside = s->path.len;
  uint32_t of = open_scope(s, from, ENUM_NAME);
  while (of && pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(ENUM_VALUE, PB_BYTES)) read_value(s, &f, of);
  if (c.fault) s->damaged = true;
  s->path.len = outside;
}

static void read_message(struct schema *s, const struct pb_field *from, unsigned level) {
  struct pb c = pb_inside(from);
  struct pb_field f;
  size_t outside = s->path.len;
  uint32_t message = level < LEVELS ? open_scope(s, from, MESSAGE_NAME) : 0;
  while (message && pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(MESSAGE_FIELD, PB_BYTES): read_field(s, &f, message); break;
    case PB_KEY(MESSAGE_EXTENSION, PB_BYTES): read_field(s, &f, 0); break;
    case PB_KEY(MESSAGE_ENUM, PB_BYTES): read_enum(s, &f); break;
    case PB_KEY(MESSAGE_NESTED, PB_BYTES): read_message(s, &f, level + 1); break;
    default: break;
    }
  }
  if (c.fault) s->damaged = true;
  s->path.len = outside;
}

static void read_file(struct schema *s, const struct pb_field *from) {
  struct pb c = pb_inside(from);
  struct pb_field f;
  s->path.len = 0;
  for (struct pb first = c; pb_next(&first, &f);)
    if (pb_field_key(&f) == PB_KEY(FILE_PACKAGE, PB_BYTES) && f.value && s->path.len == 0) {
      buf_append(&s->path, ".", 1);
      buf_append(&s->path, f.p, (size_t)f.value);
    }
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(FILE_MESSAGE, PB_BYTES): read_message(s, &f, 0); break;
    case PB_KEY(FILE_ENUM, PB_BYTES): read_enum(s, &f); break;
    case PB_KEY(FILE_EXTENSION, PB_BYTES): read_field(s, &f, 0); break;
    default: break;
    }
  }
  if (c.fault) s->damaged = true;
}

/* ---- fields of TrackEvent itself ---- */

/* Fields of TrackEvent whose values need no interned data, from protos/perfetto/trace/track_event. */
static const struct known {
  const char *message; /* the message that contains the field; "" = TrackEvent */
  const char *name;
  uint32_t number;
  enum field_type type;
  const char *of;
} KNOWN[] = {
    {"", "chrome_user_event", 25, FIELD_MESSAGE, "ChromeUserEvent"},
    {"ChromeUserEvent", "action", 1, FIELD_STRING, NULL},
    {"ChromeUserEvent", "action_hash", 2, FIELD_UINT64, NULL},
    {"", "chrome_keyed_service", 26, FIELD_MESSAGE, "ChromeKeyedService"},
    {"ChromeKeyedService", "name", 1, FIELD_STRING, NULL},
    {"", "chrome_histogram_sample", 28, FIELD_MESSAGE, "ChromeHistogramSample"},
    {"ChromeHistogramSample", "name_hash", 1, FIELD_UINT64, NULL},
    {"ChromeHistogramSample", "name", 2, FIELD_STRING, NULL},
    {"ChromeHistogramSample", "sample", 3, FIELD_INT64, NULL},
    {"", "source_location", 33, FIELD_MESSAGE, "SourceLocation"},
    {"SourceLocation", "file_name", 2, FIELD_STRING, NULL},
    {"SourceLocation", "function_name", 3, FIELD_STRING, NULL},
    {"SourceLocation", "line_number", 4, FIELD_UINT32, NULL},
};

static uint32_t known_text(struct schema *s, const char *name) {
  s->path.len = 0;
  buf_text(&s->path, *name ? ".perfetto.protos." : EVENT);
  buf_text(&s->path, name);
  return intern(&s->text, s->path.data, s->path.len);
}

void schema_add_known(struct schema *s) {
  s->event = intern(&s->text, EVENT, sizeof EVENT - 1);
  for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
    const struct known *k = &KNOWN[i];
    const uint32_t message = known_text(s, k->message);
    struct schema_field field = {.number = k->number, .name = intern(&s->text, k->name, strlen(k->name)), .type = (uint8_t)k->type};
    if (k->of) field.of = known_text(s, k->of);
    if (!mem_grow(s->mem, (void **)&s->fields, &s->cap, (uint64_t)s->n + 2, sizeof field)) return;
    s->fields[++s->n] = field;
    map_put(&s->by_number, pair(message, field.number), s->n);
    map_put(&s->by_name, pair(message, field.name), s->n);
  }
}

bool schema_read(struct schema *s, const uint8_t *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct pb_field set, file;
  s->event = intern(&s->text, EVENT, sizeof EVENT - 1);
  s->damaged = false;
  while (pb_next(&c, &set)) {
    if (pb_field_key(&set) != PB_KEY(DESCRIPTOR_SET, PB_BYTES)) continue;
    struct pb in = pb_inside(&set);
    while (pb_next(&in, &file))
      if (pb_field_key(&file) == PB_KEY(SET_FILE, PB_BYTES)) read_file(s, &file);
    if (in.fault) s->damaged = true;
  }
  return !c.fault && !s->damaged;
}
