/* read.c - reads profiles of pprof (github.com/google/pprof, proto/profile.proto), which Go, gperftools, JAX (device memory) and many
 * profilers write.
 *
 * All messages but the samples are tables that refer to each other by id and to one table of strings, so the file is read as a whole
 * and decoded in two passes: tables first. A sample has a value for each sample type. The value of the default type (else of the last
 * one, as in pprof) becomes the weight; the others become args named after their types. Locations without a function are named after
 * their address. The format has no times of samples: all are at the time at which the profile began. */
#include "read.h"

#include <stdio.h>
#include <string.h>

#include "format/json_walk.h"
#include "format/pb.h"
#include "pprof.h"
#include "graph/args.h"
#include "graph/stack.h"

enum profile_field {
  PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
  PROFILE_TIME_NANOS = 9, PROFILE_PERIOD_TYPE = 11, PROFILE_DEFAULT_TYPE = 14, PROFILE_LAST
};
enum { TYPE_TYPE = 1, TYPE_UNIT, SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL, LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE, LINE_COLUMN, FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM, FUNCTION_FILE };
enum { VALUES_MOST = 64, LOCATIONS_MOST = 1 << 16, LINES_MOST = 32 };

/* True if all fields of the message match `wires`: by field number, a digit for the wire type, or 'v' for a varint or a packed list
 * of varints. */
static bool has_fields_of(const struct pb_field *message, const char *wires) {
  struct pb c = pb_inside(message);
  struct pb_field f;
  bool any = false;
  for (; pb_next(&c, &f); any = true) {
    char wire = f.number < strlen(wires) ? wires[f.number] : '-';
    if (wire == 'v' ? f.wire != PB_VARINT && f.wire != PB_BYTES : wire != (char)('0' + f.wire)) return false;
  }
  return any && !c.fault;
}

/* Shapes of the messages of a profile, by field number; NULL: a number, text or list of numbers. */
static const char *const SHAPES[] = {
    [PROFILE_SAMPLE_TYPE] = "-00", [PROFILE_SAMPLE] = "-vv22", [PROFILE_MAPPING] = "-0000000000", [PROFILE_LOCATION] = "-00020",
    [PROFILE_FUNCTION] = "-00000", [PROFILE_PERIOD_TYPE] = "-00", [PROFILE_LAST] = NULL};

static bool is_profile_field(const struct pb_field *f) {
  static const char WIRES[] = "-222222000020v00"; /* by field number, as in has_fields_of() */
  if (f->number > PROFILE_LAST) return false;
  const char wire = WIRES[f->number];
  if (wire == 'v' ? f->wire != PB_VARINT && f->wire != PB_BYTES : wire != (char)('0' + f->wire)) return false;
  const bool empty = f->wire == PB_BYTES && f->value == 0 && f->number != PROFILE_SAMPLE_TYPE; /* all its fields are 0 */
  return empty || !SHAPES[f->number] || has_fields_of(f, SHAPES[f->number]);
}

/* Returns the score of a profile. Fields may be in any order: Go begins with times, other producers with types. Field 1
 * (ValueType) and field 2 (Sample) distinguish a profile from an XSpace, which has planes and error texts at these numbers. */
unsigned pprof_bid(const uint8_t *p, size_t n) {
  enum { ENOUGH = 64 };
  struct pb c = pb_over(p, n);
  struct pb_field f;
  unsigned types = 0, tables = 0;
  for (unsigned i = 0; i < ENOUGH && pb_next(&c, &f); i++) {
    if (!is_profile_field(&f)) return 0;
    types += f.number == PROFILE_SAMPLE_TYPE;
    tables += f.number >= PROFILE_SAMPLE && f.number <= PROFILE_STRING;
  }
  return types && tables ? 400 : 0;
}

struct text {
  const uint8_t *p;
  size_t n;
};

/* A table of messages by their ids. */
struct table {
  struct map index;
  struct text *items; /* [0..n) */
  uint32_t n, cap;
};

struct pprof {
  struct tk_trace *t;
  struct mem *mem;
  struct text *strings;
  uint32_t n_strings, cap_strings;
  struct table mappings, locations, functions;
  struct value_type {
    uint64_t type, unit;
  } types[VALUES_MOST];
  unsigned n_types, chosen;
  uint64_t default_type;
  unsigned counter;     /* index of the type that counts samples; VALUES_MOST = none */
  uint64_t taken;       /* sum of its values, which saturates */
  uint64_t weightless;  /* samples with values, but none of the chosen type */
  int64_t time_nanos;
  struct map frames;    /* location -> 1 + index in `starts` */
  tk_id *lists;         /* frames of locations, outermost first, each list ended by 0 */
  uint32_t n_lists, cap_lists;
  uint64_t *ids;        /* locations of the sample */
  uint32_t n_ids, cap_ids;
  tk_id track;
};

static tk_id string_of(struct pprof *r, uint64_t index) {
  if (index == 0 || index >= r->n_strings || r->strings[index].n == 0) return 0;
  bool repaired = false;
  return intern_text(&r->t->store->strings, r->strings[index].p, r->strings[index].n, r->t->store->has_bytes, &repaired);
}

/* ---- tables ---- */

static bool add_text(struct mem *mem, struct text **list, uint32_t *n, uint32_t *cap, const struct pb_field *f) {
  if (!mem_grow(mem, (void **)list, cap, (uint64_t)*n + 1, sizeof **list)) return false;
  (*list)[(*n)++] = (struct text){f->p, (size_t)f->value};
  return true;
}

/* Adds a message under its id, which is its field 1. */
static void add_message(struct pprof *r, struct table *x, const struct pb_field *message) {
  struct pb c = pb_inside(message);
  struct pb_field f;
  uint64_t id = 0;
  while (pb_next(&c, &f))
    if (f.number == 1 && f.wire == PB_VARINT) id = f.value;
  if (add_text(r->mem, &x->items, &x->n, &x->cap, message)) map_put(&x->index, id, x->n - 1);
}

static const struct text *row_of(const struct table *x, uint64_t id) {
  const uint32_t *at = id ? map_get(&x->index, id) : NULL;
  return at && *at < x->n ? &x->items[*at] : NULL;
}

/* Returns the last value of a field that is a number. */
static uint64_t field_in(const struct text *message, uint32_t number) {
  struct pb c = pb_over(message->p, message->n);
  struct pb_field f;
  uint64_t value = 0;
  while (pb_next(&c, &f))
    if (f.number == number && f.wire == PB_VARINT) value = f.value;
  return value;
}

static void add_type(struct pprof *r, const struct pb_field *f) {
  const struct text message = {f->p, (size_t)f->value};
  if (r->n_types == VALUES_MOST) return;
  r->types[r->n_types++] = (struct value_type){field_in(&message, TYPE_TYPE), field_in(&message, TYPE_UNIT)};
}

static bool is_string(const struct pprof *r, uint64_t index, const char *text) {
  const size_t n = strlen(text);
  return index < r->n_strings && r->strings[index].n == n && memcmp(r->strings[index].p, text, n) == 0;
}

static void read_tables(struct pprof *r, struct pb c) {
  struct pb_field f;
  while (pb_next(&c, &f)) {
    const bool bytes = f.wire == PB_BYTES;
    if (bytes && f.number == PROFILE_SAMPLE_TYPE) add_type(r, &f);
    else if (bytes && f.number == PROFILE_MAPPING) add_message(r, &r->mappings, &f);
    else if (bytes && f.number == PROFILE_LOCATION) add_message(r, &r->locations, &f);
    else if (bytes && f.number == PROFILE_FUNCTION) add_message(r, &r->functions, &f);
    else if (bytes && f.number == PROFILE_STRING) add_text(r->mem, &r->strings, &r->n_strings, &r->cap_strings, &f);
    else if (!bytes && f.number == PROFILE_TIME_NANOS) r->time_nanos = (int64_t)f.value;
    else if (!bytes && f.number == PROFILE_DEFAULT_TYPE) r->default_type = f.value;
  }
  if (c.fault) {
    trace_note(r->t, TK_NOTE_REPAIR, UINT64_MAX, "the profile is truncated or damaged: the part before this was read");
    r->t->truncated = true;
  }
  r->chosen = r->n_types ? r->n_types - 1 : 0;
  for (unsigned i = 0; r->default_type && i < r->n_types; i++)
    if (r->types[i].type == r->default_type) r->chosen = i;
  r->counter = VALUES_MOST;
  for (unsigned i = 0; i < r->n_types; i++)
    if (is_string(r, r->types[i].type, "samples") && is_string(r, r->types[i].unit, "count")) r->counter = i;
}

/* ---- frames ---- */

static bool push_frame(struct pprof *r, tk_id frame) {
  if (!mem_grow(r->mem, (void **)&r->lists, &r->cap_lists, (uint64_t)r->n_lists + 1, sizeof *r->lists)) return false;
  r->lists[r->n_lists++] = frame;
  return true;
}

static tk_id frame_of_line(struct pprof *r, const struct pb_field *line, tk_id module) {
  const struct text message = {line->p, (size_t)line->value};
  const struct text *function = row_of(&r->functions, field_in(&message, LINE_FUNCTION));
  const uint64_t number = field_in(&message, LINE_LINE), column = field_in(&message, LINE_COLUMN);
  struct tk_frame f = {.module = module};
  if (function) f.name = string_of(r, field_in(function, FUNCTION_NAME));
  if (function && !f.name) f.name = string_of(r, field_in(function, FUNCTION_SYSTEM));
  if (function) f.file = string_of(r, field_in(function, FUNCTION_FILE));
  if (!f.name) f.name = trace_text(r->t, "(unknown)");
  f.line = number <= UINT32_MAX ? (uint32_t)number : 0;
  f.column = column <= UINT32_MAX ? (uint32_t)column : 0;
  return stack_frame(r->t, &f);
}

/* Appends the frames of a location; its first line is the innermost. */
static void list_frames(struct pprof *r, uint64_t id) {
  const struct text *location = row_of(&r->locations, id);
  const struct text *mapping = location ? row_of(&r->mappings, field_in(location, LOCATION_MAPPING)) : NULL;
  const tk_id module = mapping ? string_of(r, field_in(mapping, MAPPING_FILE)) : 0;
  struct pb_field f, lines[LINES_MOST];
  unsigned n = 0;
  if (location)
    for (struct pb c = pb_over(location->p, location->n); pb_next(&c, &f);)
      if (f.number == LOCATION_LINE && f.wire == PB_BYTES && n < LINES_MOST) lines[n++] = f;
  if (n == 0) {
    char address[32];
    struct tk_frame bare = {.module = module};
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)(location ? field_in(location, LOCATION_ADDRESS) : 0));
    bare.name = location ? trace_text(r->t, address) : trace_text(r->t, "(unknown)");
    push_frame(r, stack_frame(r->t, &bare));
  }
  while (n-- > 0) push_frame(r, frame_of_line(r, &lines[n], module));
  push_frame(r, 0);
}

static tk_id push_location(struct pprof *r, tk_id stack, uint64_t id) {
  uint32_t *slot = map_put(&r->frames, id, 0);
  if (!slot) return 0;
  if (!*slot) {
    const uint32_t at = r->n_lists;
    list_frames(r, id);
    *slot = at + 1;
  }
  for (uint32_t i = *slot - 1; i < r->n_lists && r->lists[i]; i++) stack = stack_push(r->t, stack, r->lists[i]);
  return stack;
}

/* ---- samples ---- */

static void add_id(struct pprof *r, uint64_t id) {
  if (r->n_ids >= LOCATIONS_MOST) return;
  if (mem_grow(r->mem, (void **)&r->ids, &r->cap_ids, (uint64_t)r->n_ids + 1, sizeof *r->ids)) r->ids[r->n_ids++] = id;
}

static void add_value(int64_t *values, unsigned *n, uint64_t value) {
  if (*n < VALUES_MOST) values[(*n)++] = (int64_t)value;
}

/* Adds the label as an arg. */
static void take_label(struct pprof *r, const struct pb_field *label) {
  const struct text message = {label->p, (size_t)label->value};
  const tk_id key = string_of(r, field_in(&message, LABEL_KEY)), text = string_of(r, field_in(&message, LABEL_STR));
  if (!key || key_is_reserved(tk_string(r->t, key, NULL))) return;
  if (text) args_str(r->t, key, TK_ARG_STR, text);
  else args_int(r->t, key, (int64_t)field_in(&message, LABEL_NUM));
}

/* Reads ids and values, which may be packed, and the labels, which become args under construction. */
static unsigned read_parts(struct pprof *r, const struct pb_field *sample, int64_t *values, bool *labels) {
  struct pb c = pb_inside(sample), packed;
  struct pb_field f;
  unsigned n = 0;
  uint64_t v;
  r->n_ids = 0;
  while (pb_next(&c, &f)) {
    packed = pb_inside(&f);
    if (f.number == SAMPLE_LOCATION && f.wire == PB_VARINT) add_id(r, f.value);
    else if (f.number == SAMPLE_LOCATION) while (pb_varint(&packed, &v)) add_id(r, v);
    else if (f.number == SAMPLE_VALUE && f.wire == PB_VARINT) add_value(values, &n, f.value);
    else if (f.number == SAMPLE_VALUE) while (pb_varint(&packed, &v)) add_value(values, &n, v);
    else if (f.number == SAMPLE_LABEL && f.wire == PB_BYTES) {
      if (!*labels) args_begin(r->t);
      *labels = true;
      take_label(r, &f);
    }
  }
  return n;
}

static tk_id unit_of(struct pprof *r) {
  static const char *const UNITS[][2] = {{"nanoseconds", "ns"}, {"microseconds", "us"}, {"milliseconds", "ms"}, {"seconds", "s"}};
  const tk_id unit = r->n_types ? string_of(r, r->types[r->chosen].unit) : 0;
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
    if (strcmp(tk_string(r->t, unit, NULL), UNITS[i][0]) == 0) return trace_text(r->t, UNITS[i][1]);
  return unit ? unit : trace_text(r->t, "count");
}

static void add_sample(struct pprof *r, const struct pb_field *message, tk_id unit, tk_id cat) {
  struct tk_sample s = {.track = r->track, .unit = unit, .cat = cat};
  int64_t values[VALUES_MOST] = {0};
  bool more = false;
  const unsigned n = read_parts(r, message, values, &more);
  r->t->counts.read++;
  for (unsigned i = 0; i < r->n_types && i < n; i++) {
    const tk_id key = i == r->chosen ? 0 : string_of(r, r->types[i].type);
    if (!key || key_is_reserved(tk_string(r->t, key, NULL))) continue;
    if (!more) args_begin(r->t);
    more = true;
    args_int(r->t, key, values[i]);
  }
  if (n != r->n_types) trace_note(r->t, TK_NOTE_REPAIR, UINT64_MAX, "samples with more or fewer values than sample types: "
                                                                    "missing values count as 0");
  s.weight = values[r->chosen];
  bool other = false;
  for (unsigned i = 0; i < n && i < r->n_types; i++) other = other || values[i];
  r->weightless += other && !s.weight;
  if (r->counter < n && values[r->counter] > 0 && r->taken <= INT64_MAX) r->taken += (uint64_t)values[r->counter];
  const uint32_t args = stack_weight_args(r->t, s.weight, 0, more);
  for (uint32_t i = r->n_ids; i-- > 0;) s.stack = push_location(r, s.stack, r->ids[i]);
  stack_add_with(r->t, &s, args);
}

/* Stores the sample types for the writer (PPROF_TYPES). */
static void keep_types(struct pprof *r) {
  struct buf *raw = &r->t->store->raw;
  const struct tk_meta meta = {.key = trace_text(r->t, PPROF_TYPES), .at = raw->len, .origin = PPROF_FORMAT};
  size_t n;
  if (r->n_types < 2) return;
  for (unsigned i = 0; i < r->n_types; i++) {
    const tk_id texts[] = {string_of(r, r->types[i].type), string_of(r, r->types[i].unit)};
    for (unsigned k = 0; k < 2; k++) {
      const char *text = tk_string(r->t, texts[k], &n);
      buf_text(raw, k ? "," : i ? ",[" : "[[");
      json_quote(raw, text, n);
    }
    buf_text(raw, "]");
  }
  buf_text(raw, "]");
  struct tk_meta *m = trace_add_meta(r->t);
  *m = meta;
  m->size = raw->len - meta.at;
  trace_end_raw(r->t);
}

/* Adds a note if samples have no value of the type whose values are the weights, although they have values of other types. */
static void note_weightless(struct pprof *r) {
  char text[256];
  size_t n;
  const char *type = r->n_types ? tk_string(r->t, string_of(r, r->types[r->chosen].type), &n) : "";
  if (!r->weightless) return;
  snprintf(text, sizeof text, "%llu of %llu samples have no value of the type '%.100s', which is the weight; their values of other "
                              "types are args", (unsigned long long)r->weightless, (unsigned long long)r->t->counts.read, type);
  trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, text);
}

/* A record of the profile may count several samples with the same stack. */
static void note_taken(struct pprof *r) {
  char text[128];
  if (r->taken == 0 || r->taken == r->t->counts.read) return;
  snprintf(text, sizeof text, "%llu samples were taken; the profile stores equal samples as one record", (unsigned long long)r->taken);
  trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, text);
}

static void read_samples(struct pprof *r, struct pb c) {
  struct pb_field f;
  const tk_id unit = unit_of(r), cat = r->n_types ? string_of(r, r->types[r->chosen].type) : 0;
  r->track = trace_track(r->t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0);
  trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, "pprof does not store sample times: all samples are placed at the start of the profile");
  if (r->time_nanos > 0) {
    r->t->origin_ns = r->time_nanos;
    r->t->clock = TK_CLOCK_REALTIME;
    r->t->store->clock_from = "time_nanos of the profile";
  }
  while (pb_next(&c, &f))
    if (f.number == PROFILE_SAMPLE && f.wire == PB_BYTES) add_sample(r, &f, unit, cat);
  note_taken(r);
  note_weightless(r);
  keep_types(r);
}

bool pprof_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct buf text = {.mem = mem};
  struct pprof r = {.t = t, .mem = mem};
  struct map *const maps[] = {&r.mappings.index, &r.locations.index, &r.functions.index, &r.frames};
  size_t n;
  (void)opt;
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) map_init(maps[i], mem);
  const bool ok = json_walk_load(in, &text, &n, err);
  if (ok) read_tables(&r, pb_over(text.data, n));
  if (ok) read_samples(&r, pb_over(text.data, n));
  t->counts.bytes = in_offset(in);
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) map_free(maps[i]);
  void *const lists[] = {r.strings, r.mappings.items, r.locations.items, r.functions.items, r.lists, r.ids};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) mem_free(mem, lists[i]);
  buf_free(&text);
  return ok && mem_check(mem, err);
}
