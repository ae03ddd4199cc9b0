/* replicas.c - parses replica groups (replicas.h). */
#include "replicas.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Parses numbers up to the closing character, as in "2,4]", into v[0..*n), and moves *p behind it. Returns false for other text
 * and for more than REPLICA_DIMS numbers. */
static bool numbers(const char **p, char close, uint64_t *v, uint32_t *n) {
  for (*n = 0; ascii_digit(**p) && *n < REPLICA_DIMS;) {
    char *end;
    v[(*n)++] = strtoull(*p, &end, 10);
    *p = end;
    if (**p == ',') ++*p;
  }
  return *n > 0 && *(*p)++ == close;
}

static bool is_order(const uint64_t *v, uint32_t n) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (v[i] >= n || seen >> v[i] & 1) return false;
    seen |= 1u << v[i];
  }
  return true;
}

static bool parse_iota(struct replicas *r, const char *p) {
  uint64_t shape[REPLICA_DIMS], order[REPLICA_DIMS], all = 1;
  uint32_t n;
  if (!numbers(&p, ']', shape, &n) || n != 2 || strncmp(p, "<=[", 3) != 0) return false;
  p += 3;
  if (!numbers(&p, ']', r->dims, &r->n_dims)) return false;
  for (uint32_t i = 0; i < r->n_dims; i++) order[i] = i;
  if (*p == 'T') {
    if (*++p != '(') return false;
    p++;
    if (!numbers(&p, ')', order, &n) || n != r->n_dims || !is_order(order, n)) return false;
  }
  for (uint32_t i = 0; i < r->n_dims; i++) {
    if (r->dims[i] == 0 || r->dims[i] > UINT32_MAX || all > UINT32_MAX) return false;
    all *= r->dims[i];
    r->order[i] = (uint32_t)order[i];
  }
  if (shape[0] == 0 || shape[0] > UINT32_MAX || shape[1] == 0 || all % shape[0] != 0 || all / shape[0] != shape[1]) return false;
  r->n_groups = (uint32_t)shape[0];
  r->group_size = shape[1];
  return true;
}

static bool parse_list(struct replicas *r, const char *p) {
  r->list = p;
  for (; *p && *p != '}'; p++) {
    if (*p == ',' || *p == ' ') continue;
    if (*p++ != '{') return false;
    r->n_groups++;
    while (ascii_digit(*p) || *p == ',' || *p == ' ') p++;
    if (*p != '}') return false;
  }
  if (*p != '}') return false;
  if (r->n_groups == 0) r->n_groups = 1;
  return true;
}

/* ---- axes of a mesh ---- */

struct axis {
  const char *name;
  size_t n;
  bool grouped;
};

/* Parses an axis such as "'axis_0'" and moves *p behind it. */
static bool parse_axis(const char **p, struct axis *a) {
  if (**p != '\'') return false;
  *a = (struct axis){.name = *p + 1, .n = strcspn(*p + 1, "'")};
  *p = a->name + a->n;
  return *(*p)++ == '\'';
}

/* Parses axes with their sizes: "'axis_0'=2,'axis_1'=4]". */
static bool parse_axes(struct replicas *r, const char **p, struct axis *axes) {
  do {
    char *end;
    if (r->n_dims == REPLICA_DIMS || !parse_axis(p, &axes[r->n_dims]) || *(*p)++ != '=' || !ascii_digit(**p)) return false;
    r->dims[r->n_dims] = strtoull(*p, &end, 10);
    if (r->dims[r->n_dims] == 0 || r->dims[r->n_dims] > UINT32_MAX) return false;
    r->n_dims++;
    *p = end;
  } while (*(*p)++ == ',');
  return (*p)[-1] == ']';
}

/* Parses the axes that form a group, such as "'axis_1'}", and stores their indices in r->order[0..*n). Fails for a sub-axis,
 * which has a colon after its name. */
static bool parse_grouped(struct replicas *r, const char *p, struct axis *axes, uint32_t *n) {
  struct axis a;
  do {
    uint32_t i = 0;
    if (!parse_axis(&p, &a)) return false;
    while (i < r->n_dims && (axes[i].n != a.n || memcmp(axes[i].name, a.name, a.n) != 0)) i++;
    if (i == r->n_dims || axes[i].grouped) return false;
    axes[i].grouped = true;
    r->order[(*n)++] = i;
  } while (*p++ == ',');
  return p[-1] == '}';
}

/* Parses a mesh. Moves the axes within groups to the end of the order, so that the devices of each group are consecutive. */
static bool parse_mesh(struct replicas *r, const char *p) {
  struct axis axes[REPLICA_DIMS];
  uint32_t grouped = 0, others = 0, order[REPLICA_DIMS];
  uint64_t groups = 1;
  r->group_size = 1;
  if (!parse_axes(r, &p, axes)) return false;
  bool listed = *p != ' '; /* "], device_ids=(...) {" lists the devices; the default order is 0, 1, 2 ... */
  p += strcspn(p, "{");
  if (*p++ != '{' || !parse_grouped(r, p, axes, &grouped)) return false;
  memcpy(order, r->order, sizeof order);
  for (uint32_t i = 0; i < r->n_dims; i++) {
    uint64_t *product = axes[i].grouped ? &r->group_size : &groups;
    if ((*product *= r->dims[i]) > UINT32_MAX) return false;
    if (!axes[i].grouped) r->order[others++] = i;
  }
  memcpy(r->order + others, order, grouped * sizeof *order);
  r->n_groups = (uint32_t)groups;
  return groups == 1 || !listed;
}

bool replicas_parse(struct replicas *r, const char *text) {
  *r = (struct replicas){0};
  if (strncmp(text, "mesh[", 5) == 0) return parse_mesh(r, text + 5);
  if (*text == '[') return parse_iota(r, text + 1);
  return *text == '{' && parse_list(r, text + 1);
}

static bool find_in_list(const struct replicas *r, uint64_t id, uint64_t *group) {
  uint64_t g = 0;
  for (const char *p = r->list; *p && *p != '}'; p++) {
    if (*p != '{') continue;
    for (p++; *p && *p != '}';) {
      char *end;
      if (!ascii_digit(*p)) {
        p++;
        continue;
      }
      if (strtoull(p, &end, 10) == id) {
        *group = g;
        return true;
      }
      p = end;
    }
    if (!*p) return false;
    g++;
  }
  return false;
}

/* Finds the group that contains `id` if the groups are given by a transposition: the position of `id` after the transposition,
 * divided by the size of a group. */
static bool find_in_iota(const struct replicas *r, uint64_t id, uint64_t *group) {
  uint64_t at[REPLICA_DIMS], place = 0;
  for (uint32_t i = r->n_dims; i-- > 0; id /= r->dims[i]) at[i] = id % r->dims[i];
  if (id) return false;
  for (uint32_t i = 0; i < r->n_dims; i++) place = place * r->dims[r->order[i]] + at[r->order[i]];
  *group = place / r->group_size;
  return true;
}

bool replicas_group(const struct replicas *r, uint64_t id, uint64_t *group) {
  if (r->n_groups == 1) {
    *group = 0;
    return true;
  }
  return r->list ? find_in_list(r, id, group) : find_in_iota(r, id, group);
}
