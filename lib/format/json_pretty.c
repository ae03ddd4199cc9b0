#include "json_pretty.h"

enum { LEVELS = 2 }; /* levels whose members are on separate lines */

static void put_byte(struct out *to, char c) { *out_reserve(to, 1) = (uint8_t)c, to->next++; }

static void line(struct out *to, unsigned depth) {
  put_byte(to, '\n');
  for (unsigned i = 0; i < 2 * depth; i++) put_byte(to, ' ');
}

static void in_string(struct json_pretty *p, uint8_t c, struct out *to) {
  put_byte(to, (char)c);
  if (p->escaped) p->escaped = false;
  else if (c == '\\') p->escaped = true;
  else if (c == '"') p->in_string = false;
}

static void closing(struct json_pretty *p, uint8_t c, struct out *to) {
  p->depth--;
  if (p->depth < LEVELS && !p->opened) line(to, p->depth);
  p->opened = false;
  put_byte(to, (char)c);
  if (p->depth == 0) put_byte(to, '\n');
}

static void structural(struct json_pretty *p, uint8_t c, struct out *to) {
  if (c == ' ' || c == '\n') return;
  if (c == '}' || c == ']') {
    closing(p, c, to);
    return;
  }
  if (p->opened && p->depth <= LEVELS) line(to, p->depth);
  p->opened = c == '{' || c == '[';
  p->depth += p->opened;
  put_byte(to, (char)c);
  if (c == '"') p->in_string = true;
  if (c == ',' && p->depth <= LEVELS) line(to, p->depth);
  else if (c == ',' || c == ':') put_byte(to, ' ');
}

void json_pretty(struct json_pretty *p, const uint8_t *text, size_t n, struct out *to) {
  for (size_t i = 0; i < n; i++) {
    if (p->in_string) in_string(p, text[i], to);
    else structural(p, text[i], to);
  }
}
