/* pb.c - the part of protobuf that a generator needs. Hand-written and independent of the library, so that neither can hide the
 * other's bugs. */
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static size_t varint(uint8_t *p, uint64_t v) {
  size_t n = 0;
  for (; v > 127; v >>= 7) p[n++] = (uint8_t)(v | 128);
  p[n++] = (uint8_t)v;
  return n;
}

void pb_varint(struct pb *m, uint64_t v) { m->n += varint(m->b + m->n, v); }

void pb_u(struct pb *m, unsigned field, uint64_t v) {
  pb_varint(m, field << 3);
  pb_varint(m, v);
}

void pb_fixed64(struct pb *m, unsigned field, uint64_t v) {
  pb_varint(m, field << 3 | 1);
  for (int i = 0; i < 8; i++) m->b[m->n++] = (uint8_t)(v >> 8 * i);
}

void pb_double(struct pb *m, unsigned field, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  pb_fixed64(m, field, bits);
}

void pb_bytes(struct pb *m, unsigned field, const void *p, size_t n) {
  pb_varint(m, field << 3 | 2);
  pb_varint(m, n);
  memcpy(m->b + m->n, p, n);
  m->n += n;
}

void pb_text(struct pb *m, unsigned field, const char *s) { pb_bytes(m, field, s, strlen(s)); }
void pb_message(struct pb *m, unsigned field, const struct pb *inner) { pb_bytes(m, field, inner->b, inner->n); }

void put_head(unsigned field, uint64_t n) {
  uint8_t head[20];
  size_t used = varint(head, field << 3 | 2);
  used += varint(head + used, n);
  put_n(head, used);
}

void put_message(unsigned field, const struct pb *m) {
  put_head(field, m->n);
  put_n(m->b, m->n);
}

uint64_t size_message(uint64_t n) {
  uint8_t head[10];
  return 1 + varint(head, n) + n;
}

unsigned name_id(struct names *t, const char *text, bool *fresh) {
  uint64_t h = 14695981039346656037u;
  unsigned at;
  for (const char *p = text; *p; p++) h = (h ^ (uint8_t)*p) * 1099511628211u;
  for (at = (unsigned)(h >> 40) % (2 * NAMES_MOST); t->slot[at]; at = (at + 1) % (2 * NAMES_MOST)) {
    if (fresh) *fresh = false;
    if (strcmp(t->text[t->slot[at]], text) == 0) return t->slot[at];
  }
  if (fresh) *fresh = true;
  if (t->n == NAMES_MOST - 1) abort(); /* the tables in work.c have a few hundred names, and each step has its own */
  t->slot[at] = ++t->n;
  t->text[t->n] = malloc(strlen(text) + 1);
  if (!t->text[t->n]) abort();
  strcpy(t->text[t->n], text);
  return t->n;
}

void names_free(struct names *t) {
  for (unsigned i = 1; i <= t->n; i++) free(t->text[i]);
  memset(t, 0, sizeof *t);
}
