/* numbers.c - nanoseconds to print and to read a double, by this library and by the C library (strtod, and the shortest of
 * %.15g to %.17g).
 *
 * Usage: numbers [COUNT]. "random" is random bits; "decimal" is measured values with three decimal places; "duration" is
 * picoseconds as microseconds; "quotient" is ratios, which have 16 or 17 digits. The minimum of three rounds counts, in CPU
 * time of one thread. The functions are not part of the library's interface, so their sources are included here. */
#include "../../lib/base/num.c"
#include "../../lib/base/num_parse.c"
#include "../../lib/base/num_pow10.c"
#include "../../lib/base/num_print.c"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 32, ROUNDS = 3 };

struct sample {
  double *values;
  char (*texts)[WIDTH]; /* the values as NUL-terminated text */
  uint8_t *lengths;
  size_t n;
};

static uint64_t random_bits(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state ^ state >> 29;
}

static double random_value(void) {
  uint64_t bits = random_bits();
  double d;
  memcpy(&d, &bits, sizeof d);
  return d - d == 0 ? d : 1;
}
static double decimal_value(void) { return (double)(random_bits() % 10000000) / 1000; }
static double duration_value(void) { return (double)(random_bits() >> (24 + random_bits() % 24)) / 1e6; }
static double quotient_value(void) { return (double)(random_bits() >> 40) / (double)(1 + (random_bits() >> 40)); }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- measured work: sums prevent the compiler from removing it ---- */

static uint64_t print_ours(const struct sample *s) {
  char text[WIDTH];
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) sum += num_put_double(text, s->values[i]) + (uint8_t)*text;
  return sum;
}

static uint64_t print_theirs(const struct sample *s) {
  char text[WIDTH];
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    int n = 0;
    for (int precision = 15; precision <= 17; precision++) {
      n = snprintf(text, sizeof text, "%.*g", precision, s->values[i]);
      if (strtod(text, NULL) == s->values[i]) break;
    }
    sum += (uint64_t)n + (uint8_t)*text;
  }
  return sum;
}

static uint64_t read_ours(const struct sample *s) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) sum += num_double(s->texts[i], s->lengths[i]) == s->values[i];
  return sum;
}

static uint64_t read_theirs(const struct sample *s) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) sum += strtod(s->texts[i], NULL) == s->values[i];
  return sum;
}

static double nanoseconds(uint64_t (*run)(const struct sample *), const struct sample *s, uint64_t *sum) {
  double best = 1e9;
  for (int i = 0; i < ROUNDS; i++) {
    double start = seconds();
    *sum += run(s);
    double took = seconds() - start;
    if (took < best) best = took;
  }
  return best * 1e9 / (double)s->n;
}

static void measure(const char *name, double (*value)(void), struct sample *s) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    s->values[i] = value();
    s->lengths[i] = (uint8_t)num_put_double(s->texts[i], s->values[i]);
    s->texts[i][s->lengths[i]] = 0;
  }
  double print = nanoseconds(print_ours, s, &sum), print_c = nanoseconds(print_theirs, s, &sum);
  double read = nanoseconds(read_ours, s, &sum), read_c = nanoseconds(read_theirs, s, &sum);
  printf("%-9s print %6.1f ns, C %7.1f ns (%4.1fx)   read %5.1f ns, C %6.1f ns (%4.1fx)   sum %llx\n", name, print, print_c,
         print_c / print, read, read_c, read_c / read, (unsigned long long)sum);
}

int main(int argc, char **argv) {
  struct sample s = {.n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000};
  s.values = malloc(s.n * sizeof *s.values);
  s.texts = malloc(s.n * sizeof *s.texts);
  s.lengths = malloc(s.n);
  if (!s.n || !s.values || !s.texts || !s.lengths) return 1;
  measure("random", random_value, &s);
  measure("decimal", decimal_value, &s);
  measure("duration", duration_value, &s);
  measure("quotient", quotient_value, &s);
  free(s.values);
  free(s.texts);
  free(s.lengths);
  return 0;
}
