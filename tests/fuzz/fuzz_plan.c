/* fuzz_plan.c - arbitrary bytes as a plan, as the message inside a plan, and as the end of a part: applying the plan to a rank, and
 * joining parts by the plan, either succeeds or fails with a message.
 *
 *     byte 0, bits 0 and 1   use of the bytes: as a plan file, the message of a plan, the message of a part, or a part file
 *     byte 0, bits 2 and 3   the format of the plan to which a part belongs
 *
 * Numbers that random bytes hardly ever match (the CRC of a report, the id of a plan) are appended after the bytes: if a message has a
 * field twice, the last value counts. */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/mem.h"
#include "format/pb_out.h"
#include "io/flate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char RANK[] =
    "{\"distributedInfo\":{\"rank\":%d},\"baseTimeNanoseconds\":1000,\"traceEvents\":["
    "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"kernel\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,\"args\":{\"stream\":7}},"
    "{\"ph\":\"X\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":20}]}";
static const char ALIGN[] = "{}";
enum { PLAN_FILE, PLAN_MESSAGE, PART_MESSAGE, PART_FILE, FORMATS = 4, PATH = 64 };

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

/* Creates a file in memory with these bytes, and stores its path in `path`. Returns its descriptor. */
static int file_of(const void *p, size_t n, char *path) {
  const int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write(fd, p, n) == (ssize_t)n, "memfd", "not written");
  snprintf(path, PATH, "/proc/self/fd/%d", fd);
  return fd;
}

static int rank_of(int rank, char *path) {
  char text[512];
  return file_of(text, (size_t)snprintf(text, sizeof text, RANK, rank), path);
}

/* ---- prepared data ---- */

/* Moves an output from the disk to a file in memory; an output cannot be written there, because it gets its name by a rename.
 * Returns its size. */
static size_t move_to_memory(const char *from, char *to, char *text, size_t size) {
  FILE *f = fopen(from, "rb");
  require(f != NULL, from, "is not there");
  const size_t n = fread(text, 1, size - 1, f);
  text[n] = 0;
  fclose(f);
  unlink(from);
  file_of(text, n, to);
  return n;
}

/* Writes a plan of two ranks in this format, and sets its path. Returns the plan's id, which its parts contain. */
static uint64_t plan_of(const char *format, char *path) {
  static char text[1 << 16];
  char folder[] = "/tmp/fuzz_plan.XXXXXX", output[PATH], rank[PATH], scan[2][PATH];
  const char *scans[] = { scan[0], scan[1] }, *name = rank;
  struct tk_err err = { 0 };
  require(mkdtemp(folder) != NULL, folder, "cannot be made");
  snprintf(output, sizeof output, "%s/out", folder);
  for (int i = 0; i < 2; i++) {
    const struct tk_scan_options o = { .input = i ? "b" : "a" };
    const int fd = rank_of(i, rank);
    require(tk_scan(&name, 1, output, &o, NULL, &err), "scan", err.msg);
    move_to_memory(output, scan[i], text, sizeof text);
    close(fd);
  }
  const struct tk_merge_options o = { .save = { .format = format }, .to = 1 << 20 };
  require(tk_plan(scans, 2, output, &o, NULL, &err), "plan", err.msg);
  move_to_memory(output, path, text, sizeof text);
  rmdir(folder);
  char *tasks = strstr(text, "\"tasks\":\"");
  require(tasks != NULL, "plan", "has no tasks");
  tasks += strlen("\"tasks\":\"");
  const size_t size = base64_decode((uint8_t *)tasks, strcspn(tasks, "\""));
  return (uint64_t)size << 32 | flate_crc(0, (const uint8_t *)tasks, size);
}

/* ---- fuzzed steps ---- */

static void check(bool ok, const char *what, const struct tk_err *err) {
  require(ok || (err->code != TK_OK && err->msg[0]), what, "failed without saying why");
}

static void apply(const char *plan) {
  char rank[PATH];
  const int fd = rank_of(0, rank);
  const struct tk_apply_options by_name = { .load = { .max_memory = 1u << 29 }, .save = { .force = true }, .input = "a" };
  const struct tk_apply_options by_rank = { .load = { .max_memory = 1u << 29 }, .save = { .force = true } };
  struct tk_err err = { 0 };
  const bool ok = tk_apply(plan, rank, "/dev/null", &by_name, NULL, &err) || tk_apply(plan, rank, "/dev/null", &by_rank, NULL, &err);
  check(ok, "apply", &err);
  close(fd);
}

static void concat(const char *plan, const char *part) {
  const struct tk_concat_options o = { .save = { .force = true }, .max_memory = 1u << 29, .keep_going = true };
  const char *const parts[] = { part, NULL };
  struct tk_err err = { 0 };
  check(tk_concat(plan, parts, "/dev/null", &o, NULL, &err), "concat", &err);
}

static void try_plan(const void *text, size_t n) {
  char plan[PATH], part[PATH];
  const int fd = file_of(text, n, plan), none = file_of("", 0, part);
  apply(plan);
  concat(plan, part);
  close(none);
  close(fd);
}

static void try_plan_message(struct mem *mem, const uint8_t *data, size_t size) {
  struct buf message = { .mem = mem }, text = { .mem = mem };
  buf_append(&message, data, size);
  pb_u64(&message, 1, 1);
  pb_bytes(&message, 2, TK_VERSION, strlen(TK_VERSION));
  pb_fixed32(&message, 20, flate_crc(0, (const uint8_t *)ALIGN, sizeof ALIGN - 1));
  buf_text(&text, "{\"align\":{},\"ranks\":[],\"tasks\":\"");
  base64_append(&text, message.data, message.len);
  buf_text(&text, "\"}");
  try_plan(text.data, text.len);
  buf_free(&message);
  buf_free(&text);
}

static void put_number(struct buf *b, uint64_t v, int n) {
  for (int i = 0; i < n; i++) buf_append(b, &(uint8_t){ (uint8_t)(v >> 8 * i) }, 1);
}

static void try_part_message(struct mem *mem, const char *plan, uint64_t id, const uint8_t *data, size_t size) {
  static const char BYTES[] = "\n{\"ph\":\"X\"}";
  struct buf message = { .mem = mem }, file = { .mem = mem };
  char part[PATH];
  buf_append(&message, data, size);
  pb_u64(&message, 1, 1);
  pb_fixed64(&message, 2, id);
  pb_u64(&message, 4, sizeof BYTES - 1);
  pb_fixed32(&message, 5, flate_crc(0, (const uint8_t *)BYTES, sizeof BYTES - 1));
  buf_append(&file, BYTES, sizeof BYTES - 1);
  buf_append(&file, message.data, message.len);
  put_number(&file, message.len, 8);
  put_number(&file, flate_crc(0, message.data, message.len), 4);
  buf_text(&file, "tracekit");
  const int fd = file_of(file.data, file.len, part);
  concat(plan, part);
  close(fd);
  buf_free(&message);
  buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const formats[FORMATS] = { "json", "pftrace", "xplane", "json.gz" };
  static char plans[FORMATS][PATH];
  static uint64_t ids[FORMATS];
  struct mem mem = { 0 };
  char part[PATH];
  for (int i = 0; i < FORMATS && !*plans[FORMATS - 1]; i++) ids[i] = plan_of(formats[i], plans[i]);
  if (size == 0) return 0;
  const unsigned format = *data >> 2 & 3;
  switch (*data & 3) {
  case PLAN_FILE: try_plan(data + 1, size - 1); break;
  case PLAN_MESSAGE: try_plan_message(&mem, data + 1, size - 1); break;
  case PART_MESSAGE: try_part_message(&mem, plans[format], ids[format], data + 1, size - 1); break;
  default: {
    const int fd = file_of(data + 1, size - 1, part);
    concat(plans[format], part);
    close(fd);
  }
  }
  return 0;
}
