/* origins.c - implements tk_print_origins: lists the ranks and hosts of a merged trace. */
#include <string.h>

#include "source/identity.h"
#include "source/provenance.h"

/* Copies the list to to[0, n). A list that is too long is cut after an element and ends with "...". */
static void copy_list(char *to, size_t n, const struct buf *list) {
  static const char MORE[] = ", ...";
  size_t size = list->len;
  if (!n) return;
  if (size >= n) {
    size = n > sizeof MORE ? n - sizeof MORE : 0;
    while (size && list->data[size] != ',') size--;
  }
  if (size) memcpy(to, list->data, size);
  to[size] = 0;
  if (size && size < list->len) memcpy(to + size, MORE, sizeof MORE);
}

/* Appends the distinct hosts, in the order of the tracks. */
static void put_hosts(const struct tk_trace *t, const struct track_origin *origins, struct mem *mem, struct buf *hosts) {
  struct intern seen;
  intern_init(&seen, mem);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const uint32_t before = seen.n;
    if (!*origins[i].host || intern(&seen, origins[i].host, strlen(origins[i].host)) <= before) continue;
    if (hosts->len) buf_text(hosts, ", ");
    buf_text(hosts, origins[i].host);
  }
  intern_free(&seen);
}

bool tk_print_origins(struct tk_trace *t, char *ranks, size_t n, char *hosts, size_t m) {
  struct mem mem = {0};
  struct buf of_ranks = {.mem = &mem}, of_hosts = {.mem = &mem};
  struct track_origin *origins = identity_is_merged(t) ? identity_of_tracks(t, &mem) : NULL;
  int64_t *v = origins ? mem_array(&mem, (uint64_t)t->n_tracks + 1, sizeof *v) : NULL;
  size_t count = 0;
  for (tk_id i = 1; v && i <= t->n_tracks; i++)
    if (origins[i].rank >= 0) v[count++] = origins[i].rank;
  if (v) provenance_put_ranks(v, count, &of_ranks);
  if (v) put_hosts(t, origins, &mem, &of_hosts);
  const bool ok = !mem.failed;
  copy_list(ranks, n, &of_ranks);
  copy_list(hosts, m, &of_hosts);
  mem_free(&mem, v);
  identity_free_tracks(origins, &mem);
  buf_free(&of_ranks);
  buf_free(&of_hosts);
  return ok;
}
