/* spelling.c - spellings of numbers that the graph does not represent.
 *
 * Times are numbers, and a track has one spelling of its pid and tid. If an event quotes numbers that other events of its track do not
 * quote, or vice versa, an arg records this (old versions of Kineto quote them in flow points, and some producers quote every number).
 *
 * In the graph, times are whole picoseconds. Further digits are dropped, which is reported unless both spellings are the same double,
 * because most JSON readers read doubles: jaxlib prints 1e-06 as 9.9999999999999995e-07. */
#include <stdio.h>
#include <string.h>

#include "spelling.h"
#include "reader.h"
#include "graph/args.h"

/* ---- digits ---- */

enum { PS_DIGITS = 6 }; /* decimals of a microsecond */

static double as_written(i128 ps) {
  char text[48];
  return num_double(text, num_put_us(text, ps));
}

bool chrome_is_rounded_decimal(int64_t mant, int exp, i128 ps) {
  return exp < -PS_DIGITS && num_nearest(mant, exp) != as_written(ps);
}

/* True if the number may have digits beyond the picosecond. */
static bool is_long(const uint8_t *p, const uint8_t *end) {
  const uint8_t *point = memchr(p, '.', (size_t)(end - p));
  return (point && end - point - 1 > PS_DIGITS) || memchr(p, 'e', (size_t)(end - p)) || memchr(p, 'E', (size_t)(end - p));
}

bool chrome_is_rounded(const uint8_t *p, const uint8_t *end, i128 ps) {
  return is_long(p, end) && num_double((const char *)p, (size_t)(end - p)) != as_written(ps);
}

void chrome_note_rounded(struct chrome *r, const struct chrome_event *e) {
  const unsigned n = (unsigned)e->ts.rounded + e->dur.rounded;
  if (!n) return;
  trace_notes(r->t, TK_NOTE_FACT, e->offset, "times with digits beyond the picosecond: rounded", n);
  r->t->counts.rounded += n;
}

bool chrome_odd_time(const uint8_t *p, const uint8_t *end, i128 *ps) {
  char text[64] = "", plain[160];
  const uint8_t *unit;
  struct num number;
  tk_time time;
  if (end - p >= (ptrdiff_t)sizeof text) return false;
  memcpy(text, p, (size_t)(end - p));
  if (!num_odd((const uint8_t *)text, &unit, true, &number) || (number.kind != NUM_INT && number.kind != NUM_DEC)) return false;
  if (!*unit) return num_scale(number.mant, number.exp + PS_DIGITS, ps);
  const size_t n = num_put_decimal(plain, number.mant, number.exp);
  memcpy(plain + n, unit, strlen((const char *)unit) + 1);
  if (!tk_parse_duration(plain, &time)) return false;
  *ps = time;
  return true;
}

/* ---- quotes ---- */

uint8_t chrome_decimals(const uint8_t *p, const uint8_t *end) {
  const uint8_t *point = memchr(p, '.', (size_t)(end - p));
  const ptrdiff_t n = point ? end - point - 1 : 0;
  if (n <= 0 || n > TK_DECIMALS_MOST || end[-1] != '0') return 0;
  return memchr(point, 'e', (size_t)n) || memchr(point, 'E', (size_t)n) ? 0 : (uint8_t)n;
}

static bool is_respelled(struct tk_ident usual, struct tk_ident own) {
  if (!trace_ident_equal(usual, own)) return false; /* different ids: the event is on a lane of the track */
  return usual.kind == TK_IDENT_INT ? own.kind == TK_IDENT_QUOTED : usual.kind == TK_IDENT_QUOTED && own.kind == TK_IDENT_INT;
}

/* True if the tid of the event differs from its track's, so that an arg stores it, as a number if possible. */
static bool has_own_tid(const struct tk_track *k, struct tk_ident tid) {
  return k->kind == TK_TRACK_PROCESS || (k->kind == TK_TRACK_COUNTERS && !trace_ident_equal(k->tid, tid));
}

/* True for almost every event: its times are numbers, and its ids are of the same kind as those of its track. */
static bool is_usual(const struct tk_track *k, const struct chrome_event *e) {
  return !e->ts.quoted && !e->dur.quoted && e->pid.kind == k->pid.kind && e->tid.kind == k->tid.kind && e->tid.kind != TK_IDENT_QUOTED;
}

unsigned chrome_respelled(const struct chrome *r, const struct chrome_event *e, tk_id track) {
  const struct tk_track *k = &r->t->tracks[track];
  if (is_usual(k, e)) return 0;
  const bool own_tid = has_own_tid(k, e->tid);
  unsigned is = 0;
  if (e->ts.quoted) is |= TK_RESPELLED_TS;
  if (e->dur.quoted && e->ph == 'X') is |= TK_RESPELLED_DUR;
  if (track && is_respelled(k->pid, e->pid)) is |= TK_RESPELLED_PID;
  if (own_tid ? e->tid.kind == TK_IDENT_QUOTED : is_respelled(k->tid, e->tid)) is |= TK_RESPELLED_TID;
  return is;
}

uint32_t chrome_with_respelled(struct chrome *r, uint32_t args, unsigned respelled, const struct chrome_event *e) {
  const uint8_t decimals[] = {e->ts.decimals, e->ph == 'X' ? e->dur.decimals : 0, 0, 0};
  static const char *const NAMES[] = {" ts", " dur", " pid", " tid"};
  struct tk_args it = tk_args_of(r->t, args);
  struct tk_arg arg;
  char text[32] = "";
  for (unsigned i = 0; i < 4; i++) {
    if (!(respelled >> i & 1)) continue;
    strcat(text, NAMES[i]);
    if (decimals[i]) snprintf(text + strlen(text), sizeof text - strlen(text), ":%u", decimals[i]);
  }
  args_begin(r->t);
  while (tk_args_next(&it, &arg)) args_copy(r->t, &arg);
  args_str(r->t, KEY_RESPELLED, TK_ARG_STR, trace_text(r->t, text + 1));
  return args_end(r->t);
}
