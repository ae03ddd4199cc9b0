/* keys.h - arg keys and strings that the code itself refers to.
 *
 * Every trace interns them first and in this order, so that their string ids are constants: KEY_ID == the id of "json.id". A
 * key under "json." is a field of a Chrome JSON event that the model does not have; the JSON writer puts it back in its place,
 * and all other formats show it. "json.end." holds fields of the end event of a begin/end pair, "json.args." an arg whose own
 * key begins with "json.". "json.respelled" lists the members of the event (ts, dur, pid, tid) that are quoted although the
 * trace's other events have numbers, or the reverse; "ts:3" means that ts has three decimals and the last one is a superfluous
 * 0. A key under "repaired." contains the original value of something that the reader had to correct; all formats show it as an
 * ordinary arg. */
#ifndef GRAPH_KEYS_H
#define GRAPH_KEYS_H

#include <stdbool.h>
#include <string.h>

enum { TK_DECIMALS_MOST = 9 }; /* maximum number of decimals that "json.respelled" records */

#define KEYS(X)                                   \
  X(ARGS, "json.args")                            \
  X(PH, "json.ph")                                \
  X(SCOPE_OF_INSTANT, "json.s")                   \
  X(ID, "json.id")                                \
  X(ID2, "json.id2")                              \
  X(SCOPE, "json.scope")                          \
  X(TID, "json.tid")                              \
  X(PID, "json.pid")                              \
  X(TS, "json.ts")                                \
  X(TDUR, "json.tdur")                            \
  X(BIND_ID, "json.bind_id")                      \
  X(FLOW_IN, "json.flow_in")                      \
  X(FLOW_OUT, "json.flow_out")                    \
  X(BP, "json.bp")                                \
  X(NAME_FIELD, "json.name")                      \
  X(CAT_FIELD, "json.cat")                        \
  X(END_NAME, "json.end.json.name")               \
  X(END_CAT, "json.end.json.cat")                 \
  X(END_TID, "json.end.json.tid")                 \
  X(END_PID, "json.end.json.pid")                 \
  X(RESPELLED, "json.respelled")                  \
  X(REPAIRED_DUR, "repaired.dur")                 \
  X(EMPTY, "")                                    \
  X(XPLANE_OCCURRENCES, "xplane.num_occurrences") \
  X(XPLANE_OFFSET, "xplane.offset_ps")            \
  X(XPLANE_FIELDS, "xplane.fields")               \
  X(PERFETTO_CORRELATION, "perfetto.correlation_id") \
  X(PERFETTO_FIELDS, "perfetto.fields")           \
  X(COUNTER_VALUE, "value")                       \
  X(CLIPPED, "tracekit.clipped")                  \
  X(WEIGHT, "tracekit.weight")                    \
  X(FRAME, "json.sf")                             \
  X(FRAME_OF_END, "json.esf")                     \
  X(OF_END, "json.end.") /* prefix of the keys of an end event's fields */

enum key {
  KEY_NONE,
#define X(name, text) KEY_##name,
  KEYS(X)
#undef X
  KEY_COUNT
};

/* True if an arg with this key is a field of the event itself, in any format (an id, a scope, a value kept by a repair). Such
 * keys have reserved prefixes, and operations on args leave them alone. */
static inline bool key_is_reserved(const char *key) {
  static const char *const PREFIXES[] = {"json.", "xplane.", "perfetto.", "repaired.", "tracekit."};
  for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++)
    if (strncmp(key, PREFIXES[i], strlen(PREFIXES[i])) == 0) return true;
  return false;
}

#endif
