/* test_perfetto_chunks.c - a Perfetto file decoded by several threads gives the same trace, id by id and byte by byte, wherever
 * it is split; predecoded packets mean the same as packets read field by field: all fixtures, packets of all kinds between
 * usual ones, and damage. */
#include <zlib.h>

#include "agree.h"
#include "base/err.h"
#include "format/pb_out.h"
#include "format/perfetto/fields.h"

static unsigned n_paths;

/* Compares events decoded by decode.c with the general path. */
static void both_paths(const char *where, const void *p, size_t n) {
  char *fast = dump_fed(p, n, (struct feed){.format = "perfetto"});
  char *general = dump_fed(p, n, (struct feed){.format = "perfetto", .no_templates = true});
  expect(strcmp(fast, general) == 0, where, fast, general);
  n_paths++;
  free(fast);
  free(general);
}

static void all_ways(const char *where, const void *p, size_t n) {
  static const size_t shares[] = {40, 100, 700, 5000, 60000};
  both_paths(where, p, n);
  for (size_t i = 0; i < LENGTH(shares); i++)
    if (i == 0 || shares[i] < n)
      agree(where, p, n, (struct feed){.format = "perfetto", .threads = 2 + (unsigned)i % 3, .share = shares[i]});
  agree(where, p, n, (struct feed){.format = "perfetto", .threads = 3, .share = 200, .chunk = 77});
}

static void file(const char *path, struct bytes b) { all_ways(path, b.p, b.n); }

static void fixtures(void **state) {
  (void)state;
  each_fixture("perfetto", long_run() ? 64 << 20 : 2000000, file);
  each_fixture("nasty", long_run() ? 64 << 20 : 200000, file);
  assert_true(agree_count() > 500 && n_paths > 100);
}

/* ---- crafted packets ---- */

enum special {
  NOTHING, INTERNED, UNKNOWN_IID, TEXT, CATEGORIES, NO_CATEGORY, KEY_TEXT, KEY_TWICE, KEY_UNKNOWN, VALUE_IID, VALUE_TWICE, NO_VALUE,
  NUMBER, NOT_NUMBER, JSON, ODD_JSON, SCALAR_JSON, DICT, NESTED, BYTES, POINTER, MANY_ARGS, POINTS, PACKED_POINTS, MANY_POINTS, COUNTER,
  COUNTER_WITH_ARGS, INSTANT, NO_TYPE, ODD_TYPE, EXTENSION, UNMODELLED, CORRELATION, LEGACY, PRIVATE, TWO_EVENTS, NO_TIME,
  OTHER_SEQUENCE, MACHINE, CLEARED, DEFAULTS, SNAPSHOT, DROPPED, NO_EVENT, EMPTY, OTHER_FIELD, COMPRESSED, GROUP, CUT_EVENT,
  LONG_VARINT,
  SPECIALS
};

struct making {
  struct mem mem;
  struct buf trace, packet, event, inner, deep;
  unsigned n_states;
};

static void note_arg(struct making *m, uint64_t key) {
  m->inner.len = 0;
  if (key) pb_u64(&m->inner, ANNOTATION_NAME_IID, key);
}
static void end_arg(struct making *m) { pb_message(&m->event, EVENT_DEBUG_ANNOTATIONS, &m->inner); }

static void int_arg(struct making *m, uint64_t key, int64_t v) {
  note_arg(m, key);
  pb_i64(&m->inner, ANNOTATION_INT, v);
  end_arg(m);
}

static void text_arg(struct making *m, uint64_t key, uint32_t field, const char *text) {
  note_arg(m, key);
  pb_bytes(&m->inner, field, text, strlen(text));
  end_arg(m);
}

static void number_arg(struct making *m, uint64_t key, double d, const char *text) {
  union {
    double d;
    uint64_t u;
  } bits = {d};
  note_arg(m, key);
  pb_fixed64(&m->inner, ANNOTATION_DOUBLE, bits.u);
  if (text) pb_bytes(&m->inner, ANNOTATION_TRACEKIT, text, strlen(text));
  end_arg(m);
}

static void begin_event(struct making *m, unsigned i, uint32_t type) {
  m->packet.len = m->event.len = 0;
  pb_u64(&m->packet, PACKET_TIMESTAMP, 1000 + 10 * (uint64_t)i);
  if (type) pb_u64(&m->event, EVENT_TYPE, type);
  pb_u64(&m->event, EVENT_TRACK_UUID, 7);
}

static void end_packet(struct making *m, uint64_t sequence, uint64_t flags) {
  if (m->event.len) pb_message(&m->packet, PACKET_TRACK_EVENT, &m->event);
  if (sequence) pb_u64(&m->packet, PACKET_SEQUENCE_ID, sequence);
  if (flags) pb_u64(&m->packet, PACKET_SEQUENCE_FLAGS, flags);
  pb_message(&m->trace, TRACE_PACKET, &m->packet);
}

static void entry(struct making *m, uint32_t field, uint64_t iid, const char *text) {
  m->deep.len = 0;
  pb_u64(&m->deep, INTERNED_IID, iid);
  pb_bytes(&m->deep, INTERNED_TEXT, text, strlen(text));
  pb_message(&m->inner, field, &m->deep);
}

/* Writes a packet with the interned names that usual events refer to. The names alternate from packet to packet. */
static void state_packet(struct making *m, uint64_t sequence) {
  const char *const word = m->n_states++ % 2 ? "word" : "name";
  char text[32];
  m->packet.len = m->event.len = m->inner.len = 0;
  for (unsigned i = 1; i < 6; i++) {
    snprintf(text, sizeof text, "%s %u", word, i);
    entry(m, INTERNED_NAMES, i, text);
    entry(m, INTERNED_CATEGORIES, i, text + 3);
    entry(m, INTERNED_ANNOTATION_NAMES, i, text + 1);
    entry(m, INTERNED_ANNOTATION_STRINGS, i, text + 2);
  }
  pb_message(&m->packet, PACKET_INTERNED_DATA, &m->inner);
  end_packet(m, sequence, SEQUENCE_CLEARED);
}

static void usual(struct making *m, unsigned i) {
  const bool begins = i % 2 == 0;
  begin_event(m, i, begins ? TYPE_SLICE_BEGIN : TYPE_SLICE_END);
  if (begins) {
    pb_u64(&m->event, EVENT_NAME_IID, 1 + i % 5);
    pb_u64(&m->event, EVENT_CATEGORY_IIDS, 1 + i % 3);
    int_arg(m, 1, (int64_t)i - 20);
    if (i % 3) number_arg(m, 2, 0.5 * i, NULL);
    if (i % 5) text_arg(m, 3, ANNOTATION_STRING, i % 4 ? "some text" : "other");
  }
  end_packet(m, 1, SEQUENCE_NEEDS_STATE);
}

static void json_or_number(struct making *m, enum special kind, unsigned i) {
  static const char *const numbers[] = {"1", "-7", "12.50", "1e3", "18446744073709551615", "0.1"};
  static const char *const others[] = {"", " 1", "01", "+5", "1.", "nan", "1e400", "-0", "123456789012345678901234567890", "1x", "5 "};
  static const char *const texts[] = {"[1,2]", "{\"a\":[1.50,\"x\"]}", "[]", "{}", "[\"\xc3\xa4\"]"};
  static const char *const odd[] = {"[1, 2]", "{a:1}", "[1,", "{\"a\":1}}", "[\"\\u0041\"]", "[01]", "{", ""};
  static const char *const scalars[] = {"5", "\"x\"", "true", "null", "-1.5", "x"};
  switch (kind) {
  case NUMBER: number_arg(m, 4, 12.5, numbers[i % LENGTH(numbers)]); break;
  case NOT_NUMBER: number_arg(m, 4, 12.5, others[i % LENGTH(others)]); break;
  case JSON: text_arg(m, 4, ANNOTATION_JSON, texts[i % LENGTH(texts)]); break;
  case ODD_JSON: text_arg(m, 4, ANNOTATION_JSON, odd[i % LENGTH(odd)]); break;
  default: text_arg(m, 4, ANNOTATION_JSON, scalars[i % LENGTH(scalars)]);
  }
}

#define RAW(text) {text, sizeof(text) - 1}

/* Adds an annotation whose contents recur from event to event: plain JSON, typed values, contents that need a repair in each event, and
 * contents that only the general code can read. */
static void nested_arg(struct making *m, uint64_t key, unsigned i) {
  static const struct {
    const char *p;
    size_t n;
  } values[] = {
    RAW("\x62\x02\x20\x05\x62\x02\x20\x07"),        /* [5,7] */
    RAW("\x62\x03\x88\x01\x02"),                     /* a text */
    RAW("\x62\x03\x88\x01\x63"),                     /* an unknown text */
    RAW("\x62\x06\x62\x04\x62\x02\x20\x01"),        /* [[[1]]] */
    RAW("\x5a\x07\x52\x03" "a.b" "\x20\x01"),       /* a name that looks like structure */
    RAW("\x5a\x04\x08\x02\x20\x05"),                /* an interned name */
    RAW("\x5a\x04\x08\x63\x20\x05"),                /* an unknown name */
    RAW("\x62\x02\x18\x05"),                        /* a type that JSON does not have */
    RAW("\x62\x02\x20\x80"),                        /* damaged */
    RAW("\x62\x04\x32\x02\xff\xfe"),                /* no UTF-8 */
    RAW("\x62\x00\x62\x00"),                        /* [null,null] */
    RAW("\x62\x02\x20\x05\x5a\x04\x08\x02\x20\x05"), /* both an array and a dictionary */
    RAW("\x62\x02\x20\x05\x20\x01"),                /* an array and a number */
    RAW("\x20\x01\x62\x02\x20\x05"),
    RAW("\x42\x04\x08\x02\x18\x05"),                /* the old form */
  };
  note_arg(m, key);
  buf_append(&m->inner, values[i % LENGTH(values)].p, values[i % LENGTH(values)].n);
  for (unsigned k = 0; i % 4 == 3 && k < 100; k++) buf_append(&m->inner, "\x62\x02\x20\x05", 4);
  end_arg(m);
}

/* Adds an arg to an event that has been started. */
static void special_arg(struct making *m, enum special kind, unsigned i) {
  switch (kind) {
  case KEY_TEXT:
    note_arg(m, 0);
    pb_bytes(&m->inner, ANNOTATION_NAME, "inline", 6);
    pb_i64(&m->inner, ANNOTATION_INT, i);
    end_arg(m);
    break;
  case KEY_TWICE: int_arg(m, 1, 1), int_arg(m, 1 + i % 2, 2); break;
  case KEY_UNKNOWN: int_arg(m, 900 + i % 7, 1); break;
  case VALUE_IID: note_arg(m, 2), pb_u64(&m->inner, ANNOTATION_STRING_IID, 1 + i % 8), end_arg(m); break;
  case VALUE_TWICE: note_arg(m, 2), pb_u64(&m->inner, ANNOTATION_UINT, i), pb_u64(&m->inner, ANNOTATION_BOOL, 1), end_arg(m); break;
  case NO_VALUE: note_arg(m, 2), end_arg(m); break;
  case DICT: note_arg(m, 2), pb_bytes(&m->inner, ANNOTATION_DICT, "\x52\x01k\x20\x05", 5), end_arg(m); break;
  case NESTED:
    nested_arg(m, 2, i);
    if (i % 3 == 1) nested_arg(m, 4, i / 3);
    if (i % 7 == 1) int_arg(m, 5, i);
    break;
  case BYTES: text_arg(m, 2, i % 2 ? ANNOTATION_PROTO : ANNOTATION_STRING, "\xff\xfe"); break;
  case POINTER: note_arg(m, 2), pb_u64(&m->inner, ANNOTATION_POINTER, UINT64_MAX - i), end_arg(m); break;
  case MANY_ARGS:
    for (uint64_t k = 0; k < 20 + i % 60; k++) int_arg(m, 1 + k, INT64_MIN + (int64_t)k);
    break;
  default: json_or_number(m, kind, i);
  }
}

static void special_field(struct making *m, enum special kind, unsigned i) {
  switch (kind) {
  case UNKNOWN_IID: pb_u64(&m->event, EVENT_NAME_IID, 100 + i % 9); break;
  case TEXT:
    pb_bytes(&m->event, EVENT_NAME, i % 2 ? "\xff" : "in full", i % 2 ? 1 : 7);
    pb_bytes(&m->event, EVENT_CATEGORIES, "c", 1);
    break;
  case CATEGORIES: pb_u64(&m->event, EVENT_CATEGORY_IIDS, 1), pb_u64(&m->event, EVENT_CATEGORY_IIDS, 2); break;
  case NO_CATEGORY: pb_u64(&m->event, EVENT_CATEGORY_IIDS, 0), pb_u64(&m->event, EVENT_NAME_IID, 0); break;
  case POINTS: pb_fixed64(&m->event, i % 2 ? EVENT_FLOW_IDS : EVENT_TERMINATING_FLOW_IDS, i / 4); break;
  case PACKED_POINTS: pb_bytes(&m->event, EVENT_FLOW_IDS, "12345678abcdefgh", 16); break;
  case MANY_POINTS:
    for (unsigned k = 0; k < 5 + i % 8; k++) pb_fixed64(&m->event, EVENT_FLOW_IDS, k + i % 3);
    break;
  case EXTENSION: pb_u64(&m->event, 9900, i); break;
  case UNMODELLED:
    for (unsigned k = 0; k < 1 + i % 4; k++) {
      if (k % 2) pb_u64(&m->event, 34, k);
      if (i % 3) pb_bytes(&m->event, 9900 + k, "abc", 3);
      if (i % 5 == 0) int_arg(m, 1 + k, 5);
    }
    break;
  case CORRELATION: pb_u64(&m->event, EVENT_CORRELATION_ID, i); break;
  case LEGACY: pb_bytes(&m->event, EVENT_LEGACY, "\x10\x42", 2); break;
  case COUNTER:
  case COUNTER_WITH_ARGS: pb_u64(&m->event, EVENT_COUNTER_VALUE, i); break;
  default: special_arg(m, kind, i);
  }
  if (kind == COUNTER_WITH_ARGS) int_arg(m, 1, 5), pb_u64(&m->event, EVENT_NAME_IID, 2);
}

static uint32_t type_of(enum special kind, unsigned i) {
  if (kind == COUNTER || kind == COUNTER_WITH_ARGS) return TYPE_COUNTER;
  if (kind == NO_TYPE || kind == LEGACY) return 0;
  if (kind == ODD_TYPE) return 5 + i % 300;
  return kind == INSTANT || i % 2 ? TYPE_INSTANT : TYPE_SLICE_BEGIN;
}

static void compressed(struct making *m) {
  uint8_t out[256];
  uLongf n = sizeof out;
  m->inner.len = 0;
  pb_message(&m->inner, TRACE_PACKET, &m->packet);
  pb_message(&m->inner, TRACE_PACKET, &m->packet);
  assert_int_equal(compress(out, &n, m->inner.data, (uLong)m->inner.len), Z_OK);
  m->packet.len = m->event.len = 0;
  pb_bytes(&m->packet, PACKET_COMPRESSED, out, (size_t)n);
}

/* Adds a packet with an event. */
static void special_packet(struct making *m, enum special kind, unsigned i) {
  uint64_t flags = i % 2 ? SEQUENCE_NEEDS_STATE : 0;
  switch (kind) {
  case INTERNED:
    m->inner.len = 0;
    entry(m, INTERNED_NAMES, 100 + i % 9, "late");
    pb_message(&m->packet, PACKET_INTERNED_DATA, &m->inner);
    break;
  case PRIVATE: pb_bytes(&m->packet, PACKET_TRACEKIT, i % 2 ? "\x0a\x02\x08\x01" : "\x10\x01", i % 2 ? 4 : 2); break;
  case TWO_EVENTS: pb_message(&m->packet, PACKET_TRACK_EVENT, &m->event); break;
  case MACHINE: pb_u64(&m->packet, PACKET_MACHINE_ID, 5 + i % 2); break;
  case CLEARED: flags = i % 3 ? SEQUENCE_CLEARED : 3; break;
  case DEFAULTS: pb_bytes(&m->packet, PACKET_DEFAULTS, "\x5a\x02\x58\x07", 4); break;
  case SNAPSHOT: pb_bytes(&m->packet, PACKET_CLOCK_SNAPSHOT, "\x0a\x04\x08\x06\x10\x63\x0a\x04\x08\x03\x10\x64", 12); break;
  case DROPPED: pb_u64(&m->packet, PACKET_PREVIOUS_DROPPED, 1); break;
  case GROUP: pb_u64(&m->packet, 200, 3), buf_append(&m->packet, "\xdb\x06\xdc\x06", 4); break;
  case CUT_EVENT: buf_append(&m->event, "\x22\x7f", 2); break;
  case LONG_VARINT: buf_append(&m->packet, "\x68\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12); break;
  case NO_TIME: m->packet.len = 0; break;
  default: break;
  }
  if (kind == COMPRESSED) {
    pb_message(&m->packet, PACKET_TRACK_EVENT, &m->event);
    pb_u64(&m->packet, PACKET_SEQUENCE_ID, 1);
    compressed(m);
  }
  end_packet(m, kind == OTHER_SEQUENCE ? 2 + i % 3 : 1, flags);
}

static void special(struct making *m, enum special kind, unsigned i) {
  m->packet.len = m->event.len = 0;
  if (kind == EMPTY) buf_append(&m->trace, "\x0a\x00", 2);
  else if (kind == OTHER_FIELD) buf_append(&m->trace, "\x12\x03xyz", 5);
  else if (kind == NO_EVENT) end_packet(m, i % 2, 0);
  else if (kind == NOTHING) return;
  else begin_event(m, i, type_of(kind, i)), special_field(m, kind, i), special_packet(m, kind, i);
}

static void begin_trace(struct making *m) {
  *m = (struct making){0};
  m->trace.mem = m->packet.mem = m->event.mem = m->inner.mem = m->deep.mem = &m->mem;
  pb_bytes(&m->packet, PACKET_TRACK_DESCRIPTOR, "\x08\x07\x22\x04\x08\x01\x10\x02", 8);
  end_packet(m, 1, 0);
  state_packet(m, 1);
}

static void free_trace(struct making *m) {
  struct buf *all[] = {&m->trace, &m->packet, &m->event, &m->inner, &m->deep};
  for (size_t i = 0; i < LENGTH(all); i++) buf_free(all[i]);
}

static void craft(enum special kind, unsigned every, bool again) {
  struct making m;
  char where[60];
  begin_trace(&m);
  snprintf(where, sizeof where, "special %d, every %u", (int)kind, every);
  for (unsigned i = 0; i < 300; i++) {
    usual(&m, i);
    if (i % every == 0) special(&m, kind, i / every);
    if (again && i % 50 == 20) state_packet(&m, 1 + i % 3);
  }
  all_ways(where, m.trace.data, m.trace.len);
  free_trace(&m);
}

static void crafted(void **state) {
  (void)state;
  for (enum special kind = NOTHING; kind < SPECIALS; kind++)
    for (unsigned every = 1; every <= 100; every = every * 3 + 1) craft(kind, every, false), craft(kind, every, true);
}

/* Appends the packets as one compressed packet. */
static void add_compressed(struct buf *to, const struct buf *packets) {
  uint8_t out[4096];
  uLongf n = sizeof out;
  struct buf packet = {.mem = to->mem};
  assert_int_equal(compress(out, &n, packets->data, (uLong)packets->len), Z_OK);
  pb_bytes(&packet, PACKET_COMPRESSED, out, (size_t)n);
  pb_message(to, TRACE_PACKET, &packet);
  buf_free(&packet);
}

/* A file of compressed packets only, as the service writes it: a packet may be a whole chunk. The file is longer than the lookahead
 * of the sequential reader, because chunks begin only after that. */
static void only_compressed(void **state) {
  struct making m;
  (void)state;
  begin_trace(&m);
  struct buf all = {.mem = &m.mem};
  for (unsigned i = 0; i < 4000; i++) {
    for (unsigned k = 0; k <= i % 7; k++) usual(&m, i * 8 + k);
    add_compressed(&all, &m.trace);
    m.trace.len = 0;
  }
  for (size_t share = 60; share <= 1000; share = share * 5 / 4)
    agree("only compressed", all.data, all.len, (struct feed){.format = "perfetto", .threads = 3, .share = share});
  buf_free(&all);
  free_trace(&m);
}

/* The file truncated at any byte, and with any byte changed. */
static void damaged(void **state) {
  static const uint8_t others[] = {0, 1, 0x08, 0x0a, 0x12, 0x52, 0x58, 0x68, 0x7f, 0x80, 0xff};
  struct making m;
  (void)state;
  begin_trace(&m);
  for (unsigned i = 0; i < 24; i++) usual(&m, i), special(&m, (enum special)(i * 7 % SPECIALS), i);
  uint8_t *p = m.trace.data;
  for (size_t n = 0; n <= m.trace.len; n++) agree("cut", p, n, (struct feed){.format = "perfetto", .threads = 2, .share = 60});
  for (size_t i = 0; i < m.trace.len; i++) {
    const uint8_t was = p[i];
    for (size_t k = 0; k < LENGTH(others); k++) {
      p[i] = others[k];
      agree("another byte", p, m.trace.len, (struct feed){.format = "perfetto", .threads = 2, .share = 40 + i % 100});
      both_paths("another byte", p, m.trace.len);
    }
    p[i] = was;
  }
  free_trace(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fixtures), cmocka_unit_test(crafted), cmocka_unit_test(only_compressed),
                                     cmocka_unit_test(damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
