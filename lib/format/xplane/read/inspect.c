/* inspect.c - describes an XSpace: its planes and lines, and the number of bytes by kind of content.
 *
 * Lines are counted while they are read, because their bytes are not kept. The other fields of a plane are passthrough data,
 * which is counted here. */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "format/pb_unpack.h"
#include "format/xplane/passthrough.h"
#include "format/xplane/xplane.h"
#include "xplane.pb-c.h"

enum { PART_EVENTS, PART_EVENT_STATS, PART_EVENT_METADATA, PART_STAT_METADATA, PART_PLANE_STATS, PART_OTHER, PARTS };
static const char *const PART_NAMES[PARTS] = {"events",
                                              "stats of events", "event metadata",
                                              "stat metadata", "stats of planes", "other"};

/* Copies a side table, which is not aligned. */
static void *table(const struct tk_trace *t, const char *key, size_t elem, uint32_t *n, struct arena *keep) {
  const void *p = xplane_table(t, key, elem, n);
  void *q = p ? arena_alloc(keep, *n * elem) : NULL;
  return q ? memcpy(q, p, *n * elem) : NULL;
}

static void add_share(struct tk_share *part, uint64_t count, uint64_t bytes) {
  part->count += count;
  part->bytes += bytes;
}

static void add_plane(const struct tk_trace *t, const struct xplane_plane *plane, struct tk_share *parts) {
  struct pb c = xplane_fields(t, plane);
  struct pb_field f;
  add_share(&parts[PART_EVENTS], 0, plane->line_bytes - plane->stat_bytes);
  add_share(&parts[PART_EVENT_STATS], 0, plane->stat_bytes);
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    unsigned part = f.number == XPLANE_EVENT_METADATA  ? PART_EVENT_METADATA
                    : f.number == XPLANE_STAT_METADATA ? PART_STAT_METADATA
                    : f.number == XPLANE_STATS         ? PART_PLANE_STATS
                                                       : PART_OTHER;
    if (part != PART_OTHER) add_share(&parts[part], 1, (uint64_t)(c.p - from));
  }
}

/* Counts the remaining bytes: names and ids of planes, their tags and lengths, and fields of the space. */
static void add_other(const struct tk_trace *t, struct tk_inspection *p) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < PART_OTHER; i++) sum += p->parts[i].bytes;
  p->parts[PART_OTHER].bytes = t->counts.bytes > sum ? t->counts.bytes - sum : 0;
}

static int largest_first(const void *a, const void *b) {
  const struct tk_share *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static void copy_lines(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep) {
  uint32_t n;
  const struct xplane_line *lines = table(t, XPLANE_META_LINES, sizeof *lines, &n, keep);
  p->lines = lines ? arena_alloc(keep, n * sizeof *p->lines) : NULL;
  if (!p->lines) return;
  p->n_lines = n;
  for (uint32_t i = 0; i < n; i++)
    p->lines[i] = (struct tk_xplane_line){.name = tk_string(t, lines[i].name, NULL),
                                   .display_name = tk_string(t, lines[i].display_name, NULL),
                                   .id = lines[i].id, .events = lines[i].count};
}

static bool copy_planes(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep) {
  uint32_t n;
  const struct xplane_plane *planes = table(t, XPLANE_META_PLANES, sizeof *planes, &n, keep);
  p->planes = planes ? arena_alloc(keep, n * sizeof *p->planes) : NULL;
  if (!p->planes) return false;
  p->n_planes = n;
  for (uint32_t i = 0; i < n; i++) {
    const struct xplane_plane *from = &planes[i];
    struct tk_xplane_plane plane = {.name = tk_string(t, from->name, NULL), .id = from->id, .process = from->process,
                             .line = from->first_line, .lines = from->lines, .bytes = from->line_bytes + from->size};
    plane.device = strncmp(plane.name, "/device:", 8) == 0;
    if (plane.line > p->n_lines || plane.lines > p->n_lines - plane.line) plane.line = plane.lines = 0;
    for (uint32_t k = 0; k < plane.lines; k++) plane.events += p->lines[plane.line + k].events;
    p->n_devices += plane.device;
    p->planes[i] = plane;
    add_plane(t, from, p->parts);
    p->parts[PART_EVENTS].count += plane.events;
  }
  return true;
}

static void copy_hosts(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep) {
  struct xplane_bytes fields = xplane_passthrough(t, XPLANE_META_SPACE);
  Xplane__XSpace *space = pb_unpack(&xplane__xspace__descriptor, pb_over(fields.p, fields.n), keep->mem);
  size_t n = space ? space->n_hostnames : 0;
  p->hosts = n ? arena_alloc(keep, n * sizeof *p->hosts) : NULL;
  for (size_t i = 0; p->hosts && i < n; i++) {
    char *name = arena_bytes(keep, space->hostnames[i].len + 1);
    if (!name) break;
    if (space->hostnames[i].len) memcpy(name, space->hostnames[i].data, space->hostnames[i].len);
    name[space->hostnames[i].len] = 0;
    p->hosts[p->n_hosts++] = name;
  }
  pb_unpack_free(space, keep->mem);
}

void xplane_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep) {
  p->parts = arena_alloc(keep, PARTS * sizeof *p->parts);
  if (!p->parts) return;
  for (unsigned i = 0; i < PARTS; i++) p->parts[i] = (struct tk_share){.name = PART_NAMES[i]};
  copy_lines(t, p, keep);
  copy_hosts(t, p, keep);
  copy_planes(t, p, keep);
  add_other(t, p);
  p->n_parts = PARTS;
  qsort(p->parts, PARTS, sizeof *p->parts, largest_first);
}
