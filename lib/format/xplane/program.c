/* program.c - see program.h. */
#include "program.h"

/* "jit_step(5)" is jit_step and 5; without a number at the end all of it is the module. */
static void split_name(struct xplane_program *p) {
  const struct xplane_bytes name = p->name;
  size_t at = name.n;
  p->module = name;
  if (at == 0 || name.p[--at] != ')') return;
  size_t end = at;
  while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') at--;
  if (at == end || at == 0 || name.p[at - 1] != '(') return;
  p->module.n = at - 1;
  for (p->id = 0; at < end; at++) p->id = p->id * 10 + (uint64_t)(name.p[at] - '0');
}

bool xplane_program_of(struct xplane_program *p, const struct xplane_names *names, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v, stat;
  struct pb_field f;
  struct xstat s;
  bool odd = false, found = false;
  int64_t key;
  xplane_entry(&c, &key, &v);
  *p = (struct xplane_program){.id = (uint64_t)key, .hlo = pb_over("", 0)};
  while (pb_next(&v, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) p->name = xplane_bytes_of(&f);
    if (pb_field_key(&f) != PB_KEY(XEVENT_METADATA_STATS, PB_BYTES)) continue;
    stat = pb_inside(&f);
    if (!xplane_stat(&stat, &s, &odd)) continue;
    const struct xplane_name *name = xplane_name_of(names, s.id);
    if ((s.field == XSTAT_UINT64 || s.field == XSTAT_INT64) && xplane_name_is(name, "program_id")) p->id = s.value;
    if (s.field != XSTAT_BYTES || (!xplane_name_is(name, "Hlo Proto") && !xplane_name_is(name, "hlo_proto"))) continue;
    p->hlo = pb_over(s.p, (size_t)s.value);
    found = true;
  }
  split_name(p);
  return found;
}
