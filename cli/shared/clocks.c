/* clocks.c - prints the results of merge and plan about clocks and collectives (clocks.h). */
#include "clocks.h"

#include "print/table.h"
#include "print/tty.h"

#include <math.h>

void clocks_shift(int64_t ns, char *text, size_t size) {
  int64_t most = INT64_MAX / 1000;
  char *at = text, days[32];
  if (ns == 0) {
    snprintf(text, size, "0");
    return;
  }
  *at++ = ns < 0 ? '-' : '+';
  if (ns > most || ns < -most) snprintf(at, size - 1, "%s days", tty_fraction(fabs((double)ns) / 86400e9, 1, days));
  else tk_print_duration((ns < 0 ? -ns : ns) * 1000, at);
}

void clocks_collectives_text(FILE *to, const struct tk_collectives *c) {
  char n[64], share[32], time[32];
  if (!c->n) return;
  double us = c->steps ? c->lost_us / (double)c->steps : c->lost_us;
  tk_print_duration((tk_time)(us < 9e12 ? us * 1e6 : 9e18), time);
  fprintf(to, "rank %lld was last in %s%% of %s, which cost %s%s\n", (long long)c->rank,
          tty_fraction(100 * (double)c->last / (double)c->n, 0, share), tty_counted(c->n, "collective", n), time,
          c->steps ? " a step" : "");
}

void clocks_collectives_json(struct json *j, const struct tk_collectives *c) {
  json_open(j, "collectives", '{');
  json_uint(j, "collectives", c->n);
  json_int(j, "rank", c->rank);
  json_uint(j, "last", c->last);
  json_milli(j, "lost_us", c->lost_us > 0 ? (uint64_t)(c->lost_us * 1e3 + 0.5) : 0);
  json_uint(j, "steps", c->steps);
  json_close(j, '}');
}

static void us_text(double us, char *text, size_t size) {
  char number[32];
  snprintf(text, size, "%s us", tty_fraction(us, fabs(us) < 100 ? 1 : 0, number));
}

/* Prints "-" if no offset is applied, because readers would mistake the residual of a rejected offset for the residual of the clock in
 * use. */
static void residual_cell(struct table *table, const struct tk_align_host *h, double us) {
  char text[64];
  us_text(us, text, sizeof text);
  table_cell(table, "%s", h->n_pieces ? text : "-");
}

static void bounds_cell(struct table *table, const struct tk_align_host *h) {
  char low[32], high[32];
  if (!h->bounded) table_cell(table, "-");
  else if (!h->feasible) table_cell(table, "contradictory");
  else
    table_cell(table, "%s..%s%s us", tty_fraction(floor(h->low_us * 10) / 10, 1, low), signbit(h->high_us) ? "" : "+",
               tty_fraction(ceil(h->high_us * 10) / 10, 1, high));
}

static void clock_row(struct table *table, const struct tk_align_host *h) {
  char text[64], drift[32];
  table_cell(table, "%s", h->name);
  table_cell(table, "%s", h->method);
  clocks_shift(h->offset_ns, text, sizeof text);
  table_cell(table, "%s", text);
  tty_fraction(h->drift_ppm, 2, drift);
  residual_cell(table, h, h->error_us);
  if (h->n_pieces > 1) table_cell(table, "%u pieces", h->n_pieces);
  else table_cell(table, "%s ppm", drift);
  table_cell(table, h->rejected ? "%u (%u rejected)" : "%u", h->anchors, h->rejected);
  residual_cell(table, h, h->mad_us);
  residual_cell(table, h, h->p95_us);
  bounds_cell(table, h);
  if (h->n_pieces) table_cell(table, "%u -> %u", h->violations_before, h->violations_after);
  else table_cell(table, "-");
  if (!h->trusted) table_mark(table, TTY_DOUBT);
}

void clocks_text(FILE *to, const struct shared *s, const struct tk_align_report *a) {
  const char *const names[] = { "host",        "clock by", "ahead", "error",  "drift",
                                "collectives", "residual", "95%",   "proven", "violations" };
  struct table table = { .align = "llrrrrrrrr", .width = s->verbose ? 0 : tty_width(to), .drop = "....deabc." };
  if (a->n_hosts < 2) return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) table_cell(&table, "%s", names[i]);
  for (size_t i = 0; i < a->n_hosts; i++) clock_row(&table, &a->hosts[i]);
  table_print(&table, to);
  for (size_t i = 0; i < a->n_hosts; i++) {
    tty_string(to, a->hosts[i].name);
    fprintf(to, ": %s", tty_style(to, a->hosts[i].trusted ? TTY_PLAIN : TTY_DOUBT));
    tty_string(to, a->hosts[i].trust);
    fprintf(to, "%s\n", tty_style(to, TTY_PLAIN));
  }
}
