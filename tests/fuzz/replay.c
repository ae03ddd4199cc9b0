/* replay.c - drives a fuzz target without a fuzzer: runs each file of a corpus as it is, truncated at many places, and with
 * bits flipped, always in the same way. With LONG=1, small files are truncated at every byte. In a file *.base64 each line is
 * an input, which is run as it is. Each target links this file, except with -fsanitize=fuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECONDS = 20, EVERY_BYTE = 512, MEDIUM = 1 << 16, FEW = 8, FLIPS = 24, LESS = 3 };

/* Number of cuts or flips: all of them with LONG=1, otherwise a third, because `make fuzz` tries far more. */
static size_t share(size_t n) { return getenv("LONG") ? n : (n + LESS - 1) / LESS; }

/* An input that does not terminate is a fault, too: SIGALRM ends the program. */
static void try(const uint8_t *data, size_t size) {
  alarm(SECONDS);
  LLVMFuzzerTestOneInput(data, size);
  alarm(0);
}

static void cuts(const uint8_t *data, size_t size) {
  size_t n = share(size <= EVERY_BYTE ? size : size <= MEDIUM ? FEW * 2 : FEW / 4);
  for (size_t i = 0; i < n; i++) try(data, size * i / n);
}

static const char structure[] = { '"', '\\', '{', '}', '[', ']', ',', ':' };

/* A linear congruential generator, which selects the same places on every machine. */
static uint32_t next(uint32_t *state) { return *state = *state * 1664525 + 1013904223; }

static void flips(uint8_t *data, size_t size) {
  uint32_t state = (uint32_t)size;
  size_t n = share(size <= MEDIUM ? FLIPS : 2);
  for (size_t i = 0; size > 0 && i < n; i++) {
    size_t at = next(&state) % size;
    uint8_t was = data[at];
    data[at] = i % 2 ? (uint8_t)(was ^ 1u << (next(&state) >> 29)) : (uint8_t)structure[next(&state) >> 29];
    try(data, size);
    data[at] = was;
  }
}

/* Reads the file into a block of exactly its size, so that a sanitizer detects a read past the end. */
static uint8_t *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  uint8_t *data;
  long end;
  if (!f || fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0) {
    perror(path);
    exit(1);
  }
  rewind(f);
  *size = (size_t)end;
  data = malloc(*size ? *size : 1);
  if (!data || fread(data, 1, *size, f) != *size) {
    perror(path);
    exit(1);
  }
  fclose(f);
  return data;
}

static bool is_list(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".base64") == 0;
}

/* Runs each line, in a block of exactly its size. */
static int each_line(const uint8_t *data, size_t size) {
  int n = 0;
  for (const uint8_t *end; size; size -= (size_t)(end - data), data = end, n++) {
    const uint8_t *stop = memchr(data, '\n', size);
    size_t len = stop ? (size_t)(stop - data) : size;
    end = data + len + (stop != NULL);
    uint8_t *line = malloc(len ? len : 1), *input;
    if (!line) abort();
    memcpy(line, data, len);
    size_t decoded = base64_decode(line, len);
    if (decoded == SIZE_MAX || !(input = malloc(decoded ? decoded : 1))) abort();
    memcpy(input, line, decoded);
    free(line);
    try(input, decoded);
    free(input);
  }
  return n;
}

int main(int argc, char **argv) {
  int n = 0;
  for (int i = 1; i < argc; i++) {
    size_t size;
    uint8_t *data = read_file(argv[i], &size);
    /* The last name in the output is the failing input if the target aborts. */
    printf("%s\n", argv[i]);
    fflush(stdout);
    if (is_list(argv[i])) {
      n += each_line(data, size);
    } else {
      try(data, size);
      cuts(data, size);
      flips(data, size);
      n++;
    }
    free(data);
  }
  printf("%d passed, 0 failed\n", n);
  return 0;
}
