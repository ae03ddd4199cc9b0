/* inspect.c - prints the ranks of a merged trace and the parts of a binary file (planes, lines, sequences, clocks) for `info`. */
#include "inspect.h"

#include "print/tty.h"

#include <string.h>

enum { FEW = 5 };

static void label(const char *name) { printf("  %-10s", name); }

/* ---- ranks ---- */

enum { LONGEST = 1024 };

void inspect_print_origins(struct tk_trace *t) {
  char ranks[LONGEST], hosts[LONGEST];
  if (!tk_print_origins(t, ranks, sizeof ranks, hosts, sizeof hosts) || (!*ranks && !*hosts)) return;
  label("ranks");
  fputs(*ranks ? ranks : "unknown", stdout);
  if (*hosts) {
    fputs(strchr(hosts, ',') ? ", hosts " : ", host ", stdout);
    tty_string(stdout, hosts);
  }
  putchar('\n');
}

void inspect_json_origins(struct json *j, struct tk_trace *t) {
  char ranks[LONGEST], hosts[LONGEST];
  if (!tk_print_origins(t, ranks, sizeof ranks, hosts, sizeof hosts)) return;
  if (*ranks) json_string(j, "ranks", ranks);
  if (*hosts) json_string(j, "hosts", hosts);
}

/* ---- text ---- */

static void print_steps(const struct tk_inspection *p) {
  char n[64];
  if (p->n_steps == 0) return;
  label("steps");
  printf("%s, %llu to %llu", tty_count(p->n_steps, n), (unsigned long long)p->first_step, (unsigned long long)p->last_step);
  if (p->step_name) fputs(", marked by '", stdout), tty_string(stdout, p->step_name), putchar('\'');
  putchar('\n');
}

static void print_hosts(const struct tk_inspection *p) {
  if (p->n_hosts == 0) return;
  label("hosts");
  for (uint32_t i = 0; i < p->n_hosts; i++) {
    if (i) fputs(", ", stdout);
    tty_string(stdout, p->hosts[i]);
  }
  putchar('\n');
}

static void print_line(const struct tk_xplane_line *line) {
  char n[64];
  label("");
  printf("  line %lld ", (long long)line->id);
  tty_string(stdout, *line->display_name ? line->display_name : line->name);
  printf(": %s\n", tty_counted(line->events, "event", n));
}

static void print_planes(const struct tk_inspection *p, bool all) {
  char n[64], size[32];
  if (p->n_planes == 0) return;
  label("planes");
  printf("%u", p->n_planes);
  if (p->n_devices) printf(" (%u of devices)", p->n_devices);
  printf(", %u lines\n", p->n_lines);
  for (uint32_t i = 0; all && i < p->n_planes; i++) {
    const struct tk_xplane_plane *plane = &p->planes[i];
    label("plane");
    tty_string(stdout, plane->name);
    tk_print_size(plane->bytes, size);
    printf(": id %lld, %s, %s\n", (long long)plane->id, tty_counted(plane->events, "event", n), size);
    for (uint32_t k = plane->line; k < plane->line + plane->lines; k++) print_line(&p->lines[k]);
  }
}

static void print_sequences(const struct tk_inspection *p, bool all) {
  char n[64];
  if (p->n_sequences == 0) return;
  label("sequences");
  puts(tty_count(p->n_sequences, n));
  for (uint32_t i = 0; all && i < p->n_clocks; i++) {
    const struct tk_perfetto_clock *c = &p->clocks[i];
    label("clock");
    printf("%u%s%s", c->id, *c->name ? " " : "", c->name);
    if (c->machine) printf(" of machine %u", c->machine);
    printf("%s: %s\n", c->of_sequence ? " of a sequence" : "", tty_counted(c->readings, "reading", n));
  }
}

/* Prints "events 61.2%, event metadata 20.1%, ...": the five largest parts, or all parts with size and count. */
static void print_bytes(const struct tk_inspection *p, bool all) {
  uint64_t sum = 0;
  uint32_t shown = 0;
  char n[64], size[32];
  for (uint32_t i = 0; i < p->n_parts; i++) sum += p->parts[i].bytes;
  if (sum == 0) return;
  label(p->n_planes ? "bytes" : "packets");
  for (uint32_t i = 0; i < p->n_parts; i++) {
    double percent = 100.0 * (double)p->parts[i].bytes / (double)sum;
    if (p->parts[i].bytes == 0 || (shown >= FEW && !all)) continue;
    if (shown++) fputs(all ? "\n            " : ", ", stdout);
    tty_string(stdout, p->parts[i].name);
    printf(" %s%%", tty_fraction(percent, 1, n));
    if (!all) continue;
    tk_print_size(p->parts[i].bytes, size);
    printf(" (%s", size);
    if (p->parts[i].count) printf(" in %s", tty_count(p->parts[i].count, n));
    putchar(')');
  }
  putchar('\n');
}

void inspect_print(const struct tk_inspection *p, bool all) {
  print_hosts(p);
  print_planes(p, all);
  print_steps(p);
  print_sequences(p, all);
  print_bytes(p, all);
}

/* ---- JSON ---- */

static void json_lines(struct json *j, const struct tk_inspection *p, const struct tk_xplane_plane *plane) {
  json_open(j, "lines", '[');
  for (uint32_t k = plane->line; k < plane->line + plane->lines; k++) {
    const struct tk_xplane_line *line = &p->lines[k];
    json_open(j, NULL, '{');
    json_string(j, "name", line->name);
    if (*line->display_name) json_string(j, "display_name", line->display_name);
    json_int(j, "id", line->id);
    json_uint(j, "events", line->events);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void json_planes(struct json *j, const struct tk_trace *t, const struct tk_inspection *p) {
  json_open(j, "hosts", '[');
  for (uint32_t i = 0; i < p->n_hosts; i++) json_string(j, NULL, p->hosts[i]);
  json_close(j, ']');
  json_uint(j, "devices", p->n_devices);
  json_open(j, "planes", '[');
  for (uint32_t i = 0; i < p->n_planes; i++) {
    const struct tk_xplane_plane *plane = &p->planes[i];
    json_open(j, NULL, '{');
    json_string(j, "name", plane->name);
    json_int(j, "id", plane->id);
    if (plane->process && t->tracks[plane->process].pid.kind == TK_IDENT_INT) json_int(j, "pid", t->tracks[plane->process].pid.num);
    json_bool(j, "device", plane->device);
    json_uint(j, "events", plane->events);
    json_uint(j, "bytes", plane->bytes);
    json_lines(j, p, plane);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void json_sequences(struct json *j, const struct tk_inspection *p) {
  json_uint(j, "sequences", p->n_sequences);
  json_open(j, "clocks", '[');
  for (uint32_t i = 0; i < p->n_clocks; i++) {
    const struct tk_perfetto_clock *c = &p->clocks[i];
    json_open(j, NULL, '{');
    json_uint(j, "id", c->id);
    if (*c->name) json_string(j, "name", c->name);
    if (c->machine) json_uint(j, "machine", c->machine);
    json_bool(j, "of_sequence", c->of_sequence);
    json_uint(j, "readings", c->readings);
    json_close(j, '}');
  }
  json_close(j, ']');
}

void inspect_json(struct json *j, const struct tk_trace *t, const struct tk_inspection *p) {
  if (p->n_steps) {
    json_open(j, "steps", '{');
    json_uint(j, "count", p->n_steps);
    json_uint(j, "first", p->first_step);
    json_uint(j, "last", p->last_step);
    if (p->step_name) json_string(j, "name", p->step_name);
    json_close(j, '}');
  }
  if (p->n_parts == 0) return;
  json_open(j, t->format, '{');
  if (p->n_sequences) json_sequences(j, p);
  else json_planes(j, t, p);
  json_close(j, '}');
  json_open(j, "parts", '[');
  for (uint32_t i = 0; i < p->n_parts; i++) {
    json_open(j, NULL, '{');
    json_string(j, "name", p->parts[i].name);
    if (p->parts[i].count) json_uint(j, "count", p->parts[i].count);
    json_uint(j, "bytes", p->parts[i].bytes);
    json_close(j, '}');
  }
  json_close(j, ']');
}
