/* text.c - buffered output, because printf would take more time than everything else together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static char buffer[1 << 16];
static size_t used;
static uint64_t total;

static void flush(void) {
  total += fwrite(buffer, 1, used, stdout);
  used = 0;
}

void put_n(const void *p, size_t n) {
  const char *s = p;
  while (n > 0) {
    size_t room = sizeof buffer - used, part = n < room ? n : room;
    memcpy(buffer + used, s, part);
    used += part;
    s += part;
    n -= part;
    if (used == sizeof buffer) flush();
  }
}

void put(const char *s) { put_n(s, strlen(s)); }

void put_u(uint64_t v) {
  char text[24], *p = text + sizeof text;
  do *--p = (char)('0' + v % 10);
  while (v /= 10);
  put_n(p, (size_t)(text + sizeof text - p));
}

void put_i(int64_t v) {
  if (v < 0) put("-");
  put_u(v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void put_us(int64_t ns) {
  uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  char tail[5] = {'.', (char)('0' + v / 100 % 10), (char)('0' + v / 10 % 10), (char)('0' + v % 10), 0};
  if (ns < 0) put("-");
  put_u(v / 1000);
  put(tail);
}

void put_d(double v) {
  char text[32];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v) break;
  }
  put(text);
  if (!strpbrk(text, ".e")) put(".0");
}

uint64_t put_bytes(void) { return total + used; }

bool put_finish(void) {
  flush();
  return fflush(stdout) == 0 && !ferror(stdout);
}
