/* report.c - builds the report of an alignment (report.h). */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "format/json.h"
#include "graph/diagnostics.h"

static const char *const METHODS[] = {[TK_ALIGN_AUTO] = "collectives", [TK_ALIGN_CLOCK] = "clock",
                                      [TK_ALIGN_COLLECTIVES] = "collectives", [TK_ALIGN_MARKER] = "marker",
                                      [TK_ALIGN_START] = "start", [TK_ALIGN_NONE] = "none"};
static const char *copy_text(struct tk_merge_report *report, const char *text) {
  return diagnostics_text(report->notes, text);
}

/* ---- one host ---- */

/* For a host without a name (`named` false), appends a sentence: its inputs count as one host, because they share a clock. */
static void add_joined(char *text, size_t size, const struct tk_align_host *h, bool named) {
  size_t n = strlen(text);
  if (named || h->inputs < 2) return;
  snprintf(text + n, size - n, "; its %u inputs have no host name, but their clocks agree within %s us, so they count as one host",
           (unsigned)h->inputs, num_fixed(ceil(h->error_us), 0).s);
}

/* Appends an offset with its weight: "+12.2 ms (18%)". */
static void add_offset(char *text, size_t size, double us, double weight) {
  size_t n = strlen(text);
  char time[32];
  tk_print_duration((tk_time)llround(fmin(fabs(us), 9e12) * 1e6), time);
  snprintf(text + n, size - n, "%s%s (%s%%)", us < 0 ? "-" : "+", time, num_fixed(100 * weight, weight < 0.01 ? 2 : 0).s);
}

/* Appends other possible offsets if their weight is large enough. */
static void add_alternatives(char *text, size_t size, const struct tk_align_host *h, double offset_us) {
  const double least = 0.001;
  for (uint32_t i = 0; i < h->n_alternatives && h->alternatives[i].weight >= least; i++) {
    size_t n = strlen(text);
    if (i == 0 && !h->trusted) {
      snprintf(text + n, size - n, ": ");
      add_offset(text, size, offset_us, h->weight);
      n = strlen(text);
    }
    snprintf(text + n, size - n, i == 0 && h->trusted ? "; or " : " or ");
    add_offset(text, size, h->alternatives[i].offset_us, h->alternatives[i].weight);
  }
}

static double offset_us(const struct align_map *m) {
  double middle = m->curve.n ? (m->curve.x[0] + m->curve.x[m->curve.n - 1]) / 2 : 0;
  return ((double)m->offset_ns + curve_at(&m->curve, middle)) / 1e3;
}

/* ---- assumptions of an estimate ---- */

static const char LEAVE_ALIKE[] = "its ranks leave each collective at the same time as the ranks of other hosts";
static const char AT_ONCE[] = "all hosts recorded the markers at the same moment";
static const char ONE_CLOCK[] = "its inputs, which have no host name, share one clock";
static const char ONE_DEVICE_CLOCK[] = "its device clocks agree with its CPU clocks";
static const char WALL_CLOCKS[] = "the wall clocks differ by less than 'unless_us'";
enum { MOST_ASSUMPTIONS = 5 };

static bool is_marker(const struct tk_align_host *h) { return strcmp(h->method, METHODS[TK_ALIGN_MARKER]) == 0; }

/* Stores in `out` the assumptions on which the estimate depends, and returns their number. */
static uint32_t assumptions_of(const struct tk_align_host *h, const struct align_host *found, const char **out) {
  uint32_t n = 0;
  if (!h->n_pieces) return 0;
  if (is_marker(h)) out[n++] = AT_ONCE;
  else if (!found->by_messages) out[n++] = LEAVE_ALIKE;
  if (!found->of_gpu && !is_marker(h)) out[n++] = ONE_DEVICE_CLOCK;
  if (found->joined > 1) out[n++] = ONE_CLOCK;
  if (h->unless_us > 0) out[n++] = WALL_CLOCKS;
  return n;
}

/* Describes for how long, and by how much, the clock may be wrong because it was set at an unknown moment. */
static void say_gaps(char *text, size_t size, const struct align_host *found) {
  double most = 0;
  int64_t lasts = 0;
  char time[32], error[32];
  for (uint32_t i = 0; i + 1 < found->n_stretches; i++) {
    most = fmax(most, found->gaps[i].error_ns);
    lasts += found->gaps[i].to_ns - found->gaps[i].from_ns;
  }
  *text = 0;
  if (found->n_stretches < 2) return;
  tk_print_duration((tk_time)llround(fmin(most, 9e15) * 1e3), error);
  tk_print_duration((tk_time)(lasts < INT64_MAX / 1000 ? lasts : INT64_MAX / 1000) * 1000, time);
  snprintf(text, size, "; its clock was set during the recording: for %s around %s, both ranges are up to %s wider", time,
           found->n_stretches > 2 ? "these moments" : "this moment", error);
}

/* Appends why the error is large, if ranks leave collectives at different times: a GPU's clock, late ranks, or a trend over
 * ranks. */
static void add_lateness(char *text, size_t size, const struct align_host *found) {
  size_t n = strlen(text);
  if (found->of_gpu)
    snprintf(text + n, size - n, "; it leaves collectives earlier or later than the other ranks of its host: either its GPU clock is "
                                 "wrong, or the rank is late and the merged trace hides that; the error covers both");
  else if (found->spread_ns > 0)
    snprintf(text + n, size - n, "; its collectives end up to %s us before or after those of other hosts, because ranks are late",
             num_fixed(ceil(found->spread_ns / 1e3), 0).s);
  else if (found->trend_ns > found->error_ns / 2)
    snprintf(text + n, size - n, "; within a host, ranks seem to leave collectives in the order of the ranks; the error includes "
                                 "%s us in case this also holds between hosts",
             num_fixed(found->trend_ns / 1e3, 0).s);
}

/* Describes a host with a good result: first the facts that hold without assumptions, then the estimate, its error and its
 * assumptions. */
static void say_good(char *text, size_t size, const struct tk_align_host *h, const struct align_host *found) {
  char proven[160] = "no bounds are proven", unless[96] = "", set[192] = "", moved[128] = "";
  if (h->bounded)
    snprintf(proven, sizeof proven, "proven within %s..%s%s us", num_fixed(floor(h->low_us), 0).s, signbit(h->high_us) ? "" : "+",
             num_fixed(ceil(h->high_us), 0).s);
  if (h->unless_us > 0) {
    char time[32];
    tk_print_duration((tk_time)llround(fmin(h->unless_us, 9e12) * 1e6), time);
    snprintf(unless, sizeof unless, ", unless the wall clocks differed by more than %s", time);
  }
  say_gaps(set, sizeof set, found);
  if (found->moved_ns != 0)
    snprintf(moved, sizeof moved, ", after a shift by %s us so that nothing ends before it "
                                  "begins", num_fixed(found->moved_ns / 1e3, 1).s);
  if (found->by_messages) {
    snprintf(text, size, "%s by %u messages in both directions%s", proven, h->anchors, unless);
    return;
  }
  snprintf(text, size, "%s; estimated within %s us if %s (%u %s agree within %s us, median)%s%s%s", proven,
           num_fixed(ceil(h->error_us), 0).s, is_marker(h) ? AT_ONCE : LEAVE_ALIKE, h->anchors,
           is_marker(h) ? "markers" : "collectives",
           num_fixed(h->mad_us, 1).s, set, unless, moved);
  add_lateness(text, size, found);
  add_alternatives(text, size, h, offset_us(&found->map));
}

/* Appends the offset according to sequence numbers, if the estimate contradicts it. */
static void add_by_number(char *text, size_t size, const struct align_host *found) {
  size_t n = strlen(text);
  char time[32];
  if (!found->contradicts) return;
  tk_print_duration((tk_time)llround(fmin(fabs(found->by_number_ns), 9e15) * 1e3), time);
  snprintf(text + n, size - n, "; by sequence numbers alone, its clock would be %s %s", time,
           found->by_number_ns < 0 ? "behind" : "ahead");
}

/* Returns why the clock of an input and the clock of the first readable input cannot be compared. */
static const char *why_apart(const struct align_reporter *r, const struct align_input *input) {
  const struct align_input *first = r->inputs;
  while (first < input && !first->read) first++;
  if (!input->has_clock) return "the trace records no absolute time";
  if (!first->has_clock) return "the first input records no absolute time";
  return "its clock and that of the first input count from different events";
}

/* Describes a host that could not be aligned, for the reason `why`. If the wall clock of the host is not comparable with the other
 * clocks, the place of the host on the timeline is arbitrary. */
static void say_clock(char *text, size_t size, const struct align_reporter *r, const struct align_input *input, const char *why) {
  if (input->comparable) snprintf(text, size, "not aligned; its wall clock is used, which may be off by milliseconds: %s", why);
  else
    snprintf(text, size, "not aligned: %s; its offset is unknown, because %s; use --align=start or --offset to place it", why,
             why_apart(r, input));
}

/* Mentions that the input is a copy, which contributes nothing to other clocks. */
static void add_original(const struct align_reporter *r, char *text, size_t size, const struct align_input *input) {
  size_t n = strlen(text);
  if (input->copy_of)
    snprintf(text + n, size - n, "; it is a copy of %.200s, so it is not used to align other hosts",
             path_end(r->inputs[input->copy_of - 1].name, r->folders));
}

/* Returns why nothing compares the clock of a host with the reference: it has no shared collectives, or it only shares collectives with
 * hosts that were aligned with it. */
static const char *why_alone(const struct align_reporter *r, uint32_t host) {
  bool leads = false;
  for (uint32_t h = 0; h < r->problem->n_hosts; h++) leads = leads || (h != host && r->solution->hosts[h].root == host);
  return leads ? "other hosts that share collectives with it are aligned with it, but none of these shares any with the reference"
               : "no collective was found both here and on another host";
}

static void sentence(const struct align_reporter *r, struct tk_align_host *h, const struct align_host *found,
                     const struct align_input *input) {
  const bool named = *input->host;
  char text[900];
  const char *why = found->why ? found->why : why_alone(r, (uint32_t)(found - r->solution->hosts));
  if (strcmp(h->method, "reference") == 0)
    snprintf(text, sizeof text, "its clock is the reference%s%s%s", input->has_clock ? "" : ", but its trace records no absolute time",
             found->why ? "; " : "", found->why ? found->why : "");
  else if (input->copy_of && h->trusted && !h->n_pieces)
    snprintf(text, sizeof text, "it uses the clock of the reference");
  else if (strcmp(h->method, "given") == 0)
    snprintf(text, sizeof text, !input->by_barrier       ? "shifted by the given offset"
                                : input->starts_on_host ? "placed by its recorded start time, which is right only if all "
                                                          "inputs are from one host"
                                                        : "aligned by a barrier that the program recorded in each rank");
  else if (strcmp(h->method, "start") == 0)
    snprintf(text, sizeof text, "its first event was aligned with the reference's first event; hosts may start seconds apart");
  else if (strcmp(h->method, "clock") == 0)
    say_clock(text, sizeof text, r, input, why);
  else if (found->state == ALIGN_APART)
    snprintf(text, sizeof text,
             "aligned within %s us to hosts that share collectives with it, but none of these shares any with the reference",
             num_fixed(h->mad_us, 1).s);
  else if (found->state == ALIGN_ROUGH)
    snprintf(text, sizeof text, "approximate: %s", why);
  else if (!h->trusted)
    snprintf(text, sizeof text, "unreliable: %s", why);
  else
    say_good(text, sizeof text, h, found);
  if (found->state == ALIGN_POOR && !h->trusted && strcmp(h->method, "given") != 0)
    add_alternatives(text, sizeof text, h, offset_us(&found->map)), add_by_number(text, sizeof text, found);
  add_joined(text, sizeof text, h, named);
  add_original(r, text, sizeof text, input);
  h->trust = copy_text(r->report, text);
}

static const char *method_of(const struct align_reporter *r, uint32_t host, const struct align_input *first, bool mapped) {
  if (first->given) return "given";
  if (host == r->problem->reference) return "reference";
  return mapped ? METHODS[r->align] : "clock";
}

static bool take_pieces(struct tk_align_host *h, const struct align_host *found) {
  h->pieces = calloc((size_t)found->n_stretches + 1, sizeof *h->pieces);
  if (!h->pieces) return false;
  h->n_pieces = found->n_stretches;
  for (uint32_t i = 0; i < h->n_pieces; i++) {
    const struct align_stretch *s = &found->stretches[i];
    struct tk_align_piece *p = &h->pieces[i];
    int64_t middle = s->from_ns + (s->to_ns - s->from_ns) / 2;
    *p = (struct tk_align_piece){.from_ns = s->from_ns, .to_ns = s->to_ns, .offset_ns = align_offset(&found->map, middle)};
    p->error_us = s->error_ns / 1e3;
    p->drift_error_ppm = s->slope_error * 1e6;
    if (s->to_ns == s->from_ns) continue;
    int64_t moved = align_offset(&found->map, s->to_ns) - align_offset(&found->map, s->from_ns);
    p->drift_ppm = (double)moved / (double)(s->to_ns - s->from_ns) * 1e6;
  }
  return true;
}

/* Stores the drift, and the offset at the middle of the time range that the map covers. */
static void take_map(struct tk_align_host *h, const struct align_map *m) {
  double middle = m->curve.n ? (m->curve.x[0] + m->curve.x[m->curve.n - 1]) / 2 : 0;
  h->at_ns = m->pivot_ns + llround(middle);
  h->offset_ns = align_offset(m, h->at_ns);
  h->drift_ppm = curve_slope(&m->curve) * 1e6;
}

/* Returns the name of a host, followed by the rank if the input's clock differs from the clock of the other inputs on its host; the
 * end of the file's path if the host has no name. */
static const char *report_name_of(const struct align_reporter *r, uint32_t host, const struct align_input *input) {
  char text[512];
  if (!*input->host) return path_end(input->name, r->folders);
  if (r->problem->known[host]) return input->host;
  snprintf(text, sizeof text, "%.400s (rank %lld)", input->host, (long long)input->rank);
  return copy_text(r->report, text);
}

static bool take_ranks(const struct align_reporter *r, uint32_t host, struct tk_align_host *h) {
  h->ranks = calloc((size_t)h->inputs + 1, sizeof *h->ranks);
  if (!h->ranks) return false;
  for (uint32_t i = 0, n = 0; i < r->problem->n_inputs; i++)
    if (r->problem->host_of[i] == host && r->inputs[i].read) h->ranks[n++] = r->inputs[i].rank;
  return true;
}

static bool is_trusted(const struct align_input *input, const struct align_host *found, bool is_mapped) {
  const bool is_assumed = input->by_barrier && input->starts_on_host;
  if (input->given && !is_assumed) return true;
  if (found->state == ALIGN_REFERENCE) return !found->assumed;
  return is_mapped && found->state == ALIGN_GOOD;
}

/* Copies the error of the estimated offset, its weight, and the alternative offsets. */
static void take_doubts(struct tk_align_host *h, const struct align_host *found) {
  h->error_us = found->error_ns / 1e3;
  h->weight = found->weight;
  h->unless_us = found->unless_ns / 1e3;
  for (uint32_t i = 0; i < found->n_others; i++)
    h->alternatives[h->n_alternatives++] = (struct tk_align_alternative){found->others[i].offset_ns / 1e3, found->others[i].weight};
  for (uint32_t i = 0; i < found->n_stretches; i++)
    h->drift_error_ppm = fmax(h->drift_error_ppm, found->stretches[i].slope_error * 1e6);
}

static bool report_host(const struct align_reporter *r, uint32_t host, uint32_t first, uint32_t inputs) {
  const struct align_host *found = &r->solution->hosts[host];
  const struct align_input *input = &r->inputs[first];
  struct tk_align_host *h = &r->report->align.hosts[r->report->align.n_hosts++];
  *h = (struct tk_align_host){
      .name = report_name_of(r, host, input), .inputs = inputs,
      .anchors = found->anchors, .rejected = found->rejected,
      .mad_us = found->mad_ns / 1e3, .p95_us = found->p95_ns / 1e3, .bounded = found->bounded, .feasible = found->feasible,
      .violations_before = found->before, .violations_after = found->after};
  h->method = method_of(r, host, input, r->mapped[first]);
  h->trusted = is_trusted(input, found, r->mapped[first]);
  take_doubts(h, found);
  if (r->mapped[first]) take_map(h, &r->maps[first]);
  if (r->mapped[first] && !input->given && !take_pieces(h, found)) return false;
  if (!r->mapped[first]) h->violations_after = h->violations_before;
  if (found->state == ALIGN_REFERENCE) h->bounded = h->feasible = false, h->violations_after = found->after;
  if (h->bounded) h->low_us = found->low_ns / 1e3, h->high_us = found->high_ns / 1e3;
  sentence(r, h, found, input);
  return take_ranks(r, host, h);
}

/* ---- warnings ---- */

/* True if a warning should mention the host: its alignment is unreliable, or not relative to the reference. A host that shares
 * no collective with others is mentioned only if its name is known, because otherwise it may be part of another host. */
static bool is_worth_a_word(const struct align_reporter *r, uint32_t host) {
  enum align_state state = r->solution->hosts[host].state;
  return state == ALIGN_ROUGH || state == ALIGN_POOR || state == ALIGN_APART || (state == ALIGN_ALONE && r->problem->known[host]);
}

static void warn(const struct align_reporter *r, const uint32_t *row) {
  char text[900];
  uint32_t n = 0, first = 0;
  for (uint32_t h = 0; h < r->problem->n_hosts; h++) {
    if (row[h] == UINT32_MAX || !is_worth_a_word(r, h)) continue;
    if (strcmp(r->report->align.hosts[row[h]].method, "given") == 0) continue;
    if (n++ == 0) first = row[h];
  }
  if (n == 0 || r->align == TK_ALIGN_START) return;
  const struct tk_align_host *h = &r->report->align.hosts[first];
  if (n == 1) snprintf(text, sizeof text, "alignment: %.560s", h->trust);
  else snprintf(text, sizeof text, "alignment: %.560s (%u hosts could not be aligned)", h->trust, n);
  diagnostics_say(r->report->notes, h->name, TK_NOTE_INFO, text);
}

/* ---- JSON ---- */

static void append_text(struct buf *b, const char *text) { buf_append(b, text, strlen(text)); }

static void report_put_text(struct buf *b, const char *key, const char *text) {
  append_text(b, key);
  if (utf8_valid((const uint8_t *)text, strlen(text))) json_quote(b, text, strlen(text));
  else append_text(b, "\"?\"");
}

static void put_integer(struct buf *b, const char *key, int64_t v) {
  char text[24];
  append_text(b, key);
  buf_append(b, text, num_put_i64(text, v));
}

/* Writes a number with three decimals: more would suggest a precision that does not exist. */
static void report_put_number(struct buf *b, const char *key, double v) {
  append_text(b, key);
  append_text(b, num_fixed(fmax(-1e18, fmin(1e18, v)), 3).s);
}

static void put_pieces(struct buf *b, const struct tk_align_host *h) {
  append_text(b, ",\"pieces\":[");
  for (uint32_t i = 0; i < h->n_pieces; i++) {
    const struct tk_align_piece *p = &h->pieces[i];
    put_integer(b, i ? ",{\"from_ns\":" : "{\"from_ns\":", p->from_ns);
    put_integer(b, ",\"to_ns\":", p->to_ns);
    put_integer(b, ",\"offset_ns\":", p->offset_ns);
    report_put_number(b, ",\"drift_ppm\":", p->drift_ppm);
    report_put_number(b, ",\"error_us\":", p->error_us);
    report_put_number(b, ",\"drift_error_ppm\":", p->drift_error_ppm);
    append_text(b, "}");
  }
  append_text(b, "]");
}

/* Writes the readings at which the clock may have been set, with the errors there. */
static void put_gaps(struct buf *b, const struct align_host *found) {
  append_text(b, ",\"gaps\":[");
  for (uint32_t i = 0; i + 1 < found->n_stretches; i++) {
    put_integer(b, i ? ",{\"from_ns\":" : "{\"from_ns\":", found->gaps[i].from_ns);
    put_integer(b, ",\"to_ns\":", found->gaps[i].to_ns);
    report_put_number(b, ",\"error_us\":", found->gaps[i].error_ns / 1e3);
    append_text(b, "}");
  }
  append_text(b, "]");
}

static void put_bound(struct buf *b, const char *key, double us) {
  if (isfinite(us)) report_put_number(b, key, us);
  else append_text(b, key), append_text(b, "null");
}

/* Writes the 95% error of the estimate, its assumptions, and the bounds of the GPU's clock if any are known. */
static void put_estimate(struct buf *b, const struct tk_align_host *h, const struct align_host *found) {
  const char *why[MOST_ASSUMPTIONS];
  const uint32_t n = assumptions_of(h, found, why);
  report_put_number(b, ",\"estimated_us\":[", -h->error_us);
  report_put_number(b, ",", h->error_us);
  append_text(b, "],\"assumes\":[");
  for (uint32_t i = 0; i < n; i++) report_put_text(b, i ? "," : "", why[i]);
  append_text(b, "]");
  if (!isfinite(found->gpu.low) && !isfinite(found->gpu.high)) return;
  put_bound(b, ",\"gpu_us\":[", found->gpu.low / 1e3);
  put_bound(b, ",", found->gpu.high / 1e3);
  append_text(b, "]");
}

/* Writes the evidence for the estimate and its alternatives. */
static void put_weights(struct buf *b, const struct tk_align_host *h, const struct align_host *found) {
  append_text(b, ",\"weight\":");
  append_text(b, num_fixed(h->weight, 6).s);
  if (h->unless_us > 0) report_put_number(b, ",\"unless_us\":", h->unless_us);
  append_text(b, ",\"alternatives\":[");
  for (uint32_t i = 0; i < h->n_alternatives; i++) {
    report_put_number(b, i ? ",{\"offset_us\":" : "{\"offset_us\":", h->alternatives[i].offset_us);
    append_text(b, ",\"weight\":");
    append_text(b, num_fixed(h->alternatives[i].weight, 6).s);
    append_text(b, "}");
  }
  append_text(b, "]");
  if (found->contradicts) report_put_number(b, ",\"by_number_us\":", found->by_number_ns / 1e3);
}

static void put_host(struct buf *b, const struct tk_align_host *h, const struct align_host *found) {
  report_put_text(b, "{\"host\":", h->name);
  report_put_text(b, ",\"method\":", h->method);
  put_integer(b, ",\"inputs\":", h->inputs);
  for (uint32_t i = 0; i < h->inputs; i++) put_integer(b, i ? "," : ",\"ranks\":[", h->ranks[i]);
  append_text(b, "]");
  put_integer(b, ",\"offset_ns\":", h->offset_ns);
  put_integer(b, ",\"at_ns\":", h->at_ns);
  report_put_number(b, ",\"drift_ppm\":", h->drift_ppm);
  report_put_number(b, ",\"drift_error_ppm\":", h->drift_error_ppm);
  report_put_number(b, ",\"error_us\":", h->error_us);
  put_integer(b, ",\"anchors\":", h->anchors);
  put_integer(b, ",\"rejected\":", h->rejected);
  report_put_number(b, ",\"residual_mad_us\":", h->mad_us);
  report_put_number(b, ",\"residual_p95_us\":", h->p95_us);
  if (h->bounded) {
    report_put_number(b, ",\"proven_us\":[", h->low_us);
    report_put_number(b, ",", h->high_us);
    append_text(b, h->feasible ? "],\"feasible\":true" : "],\"feasible\":false");
  }
  if (h->n_pieces) put_estimate(b, h, found), put_pieces(b, h);
  if (h->n_pieces > 1) put_gaps(b, found);
  if (h->anchors && h->weight > 0) put_weights(b, h, found);
  put_integer(b, ",\"violations_before\":", h->violations_before);
  put_integer(b, ",\"violations_after\":", h->violations_after);
  append_text(b, h->trusted ? ",\"trusted\":true" : ",\"trusted\":false");
  report_put_text(b, ",\"trust\":", h->trust);
  append_text(b, "}");
}

/* Writes the report as JSON. host_of[row]: the row's host in the solution. */
static bool make_json(struct tk_merge_report *report, const struct align_solution *s, const uint32_t *host_of) {
  struct tk_align_report *a = &report->align;
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  report_put_text(&b, "{\"method\":", a->method);
  if (a->n_hosts) {
    report_put_text(&b, ",\"matched_by\":", a->matched_by);
    report_put_text(&b, ",\"reference\":", a->reference);
    put_integer(&b, ",\"collectives\":", a->collectives);
    put_integer(&b, ",\"violations_before\":", a->violations_before);
    put_integer(&b, ",\"violations_after\":", a->violations_after);
    append_text(&b, a->trusted ? ",\"trusted\":true" : ",\"trusted\":false");
    append_text(&b, ",\"hosts\":[");
    for (size_t i = 0; i < a->n_hosts; i++) {
      append_text(&b, i ? ",\n" : "\n");
      put_host(&b, &a->hosts[i], &s->hosts[host_of[i]]);
    }
    append_text(&b, "]");
  }
  append_text(&b, "}");
  if (buf_append(&b, "", 1)) a->json = copy_text(report, (const char *)b.data);
  buf_free(&b);
  return !mem.failed && a->json;
}

/* ---- entry points ---- */

void align_report_free(struct tk_merge_report *report) {
  for (size_t i = 0; i < report->align.n_hosts; i++) free(report->align.hosts[i].pieces), free(report->align.hosts[i].ranks);
  free(report->align.hosts);
  report->align = (struct tk_align_report){0};
}

bool align_report_none(struct tk_merge_report *report, enum tk_align align, bool one_host) {
  bool by_clock = align == TK_ALIGN_AUTO || align == TK_ALIGN_COLLECTIVES;
  report->align = (struct tk_align_report){.method = by_clock ? "clock" : METHODS[align], .matched_by = "", .reference = "",
                                           .trusted = one_host};
  return make_json(report, NULL, NULL);
}

/* Returns the name of the most informative kind of key that agrees with the result of some host; "" if there is none. */
static const char *matched_by(const struct align_solution *s, uint32_t n_hosts) {
  const char *by = "";
  for (uint32_t h = 0; h < n_hosts && s->collectives; h++) {
    const struct align_host *o = &s->hosts[h];
    if (o->numbered) return "sequence numbers";
    if (o->executed) by = "executions";
    else if (o->stepped && strcmp(by, "executions") != 0) by = "steps";
    else if (o->anchors && !*by) by = "votes";
  }
  return by;
}

static bool report_hosts(const struct align_reporter *r, uint32_t *row) {
  struct tk_align_report *a = &r->report->align;
  const struct align_problem *p = r->problem;
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    uint32_t first = UINT32_MAX, n = 0;
    for (uint32_t i = p->n_inputs; i-- > 0;)
      if (p->host_of[i] == h && r->inputs[i].read) first = i, n++;
    row[h] = UINT32_MAX;
    if (n == 0) continue;
    row[h] = (uint32_t)a->n_hosts;
    for (uint32_t i = 0; i < p->n_inputs; i++)
      if (p->host_of[i] == h && r->inputs[i].read) r->report->ranks[i].clock = row[h] + 1;
    if (!report_host(r, h, first, n)) return false;
    a->trusted = a->trusted && a->hosts[row[h]].trusted;
    if (h == p->reference) a->reference = a->hosts[row[h]].name;
  }
  return true;
}

/* Adds a row for each host. Sets row[host] and host_of[row], which map hosts to rows and rows to hosts. */
static bool report_all(const struct align_reporter *r, uint32_t *row, uint32_t *host_of) {
  struct tk_align_report *a = &r->report->align;
  bool any = false;
  if (!report_hosts(r, row)) return false;
  for (uint32_t h = 0; h < r->problem->n_hosts; h++)
    if (row[h] != UINT32_MAX) host_of[row[h]] = h;
  for (size_t i = 0; i < a->n_hosts; i++) any = any || strcmp(a->hosts[i].method, METHODS[r->align]) == 0;
  a->method = any || r->align == TK_ALIGN_NONE ? METHODS[r->align] : "clock";
  a->collectives = r->solution->collectives;
  a->matched_by = matched_by(r->solution, r->problem->n_hosts);
  a->violations_before = r->solution->before;
  a->violations_after = any ? r->solution->after : r->solution->before;
  if (a->violations_after) a->trusted = false;
  warn(r, row);
  return make_json(r->report, r->solution, host_of);
}

bool align_report(const struct align_reporter *r) {
  struct tk_align_report *a = &r->report->align;
  uint32_t *row = calloc(2 * ((size_t)r->problem->n_hosts + 1), sizeof *row);
  *a = (struct tk_align_report){.matched_by = "", .reference = "", .trusted = true};
  a->hosts = calloc((size_t)r->problem->n_hosts + 1, sizeof *a->hosts);
  const bool ok = a->hosts && row && report_all(r, row, row + r->problem->n_hosts + 1);
  free(row);
  return ok;
}

bool align_report_uncompared(const struct align_reporter *r) {
  struct align_problem problem = *r->problem;
  struct align_anchors none = {0};
  struct align_solution solution;
  struct align_reporter reporter = *r;
  struct tk_err err = {0};
  problem.anchors = &none;
  reporter.problem = &problem;
  reporter.solution = &solution;
  const bool ok = align_solve(&problem, &solution, &err) && align_report(&reporter);
  align_solution_free(&solution);
  return ok;
}
