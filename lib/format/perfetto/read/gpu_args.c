/* gpu_args.c - see gpu_args.h.
 *
 * After an edit, and in other formats, stages and annotations are written as spans. So every field without a place in a span is an arg.
 * The names of args are those of trace_processor (gpu_event_parser.cc), or else those of the fields. */
#include "gpu_args.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "format/perfetto/head.h"
#include "graph/args.h"
#include "sequence.h"

/* ---- numbers ---- */

/* A field that contains a number, and the key of its arg. Args are added in the order of the rows. */
struct number_row {
  uint32_t field;
  const char *key;
};
static const struct number_row OF_STAGE[] = {
  {GPU_CONTEXT, "context_id"},
  {GPU_SUBMISSION, "submission_id"},
  {GPU_EVENT_ID, "event_id"},
  {GPU_RENDER_TARGET, "render_target"},
  {GPU_RENDER_PASS, "render_pass"},
  {GPU_RENDER_PASS_INSTANCE, "render_pass_instance_id"},
  {GPU_COMMAND_BUFFER, "command_buffer"},
  {GPU_LOGICAL_QUEUE, "logical_queue_id"},
};
static const struct number_row OF_ANNOTATION[] = {{GPU_NOTE_CONTEXT, "context_id"}, {GPU_NOTE_EVENT_ID, "event_id"}};
#define ROWS_OF(table) (table), sizeof(table) / sizeof *(table)
enum { ROWS_MOST = sizeof OF_STAGE / sizeof *OF_STAGE };

static void put_numbers(struct perfetto *r, const struct pb_field *message, const struct number_row *rows, unsigned n) {
  uint64_t value[ROWS_MOST] = {0};
  bool has[ROWS_MOST] = {false};
  struct pb c = pb_inside(message);
  struct pb_field f;
  while (pb_next(&c, &f))
    for (unsigned i = 0; i < n; i++)
      if (pb_field_key(&f) == PB_KEY(rows[i].field, PB_VARINT)) value[i] = f.value, has[i] = true;
  for (unsigned i = 0; i < n; i++)
    if (has[i]) args_uint(r->t, trace_text(r->t, rows[i].key), TK_ARG_UINT, value[i]);
}

/* Adds the numbers of a repeated field as an array, such as [4,7]. */
static void put_array(struct perfetto *r, const struct pb_field *stage, uint32_t number, const char *key) {
  struct pb c = pb_inside(stage);
  struct pb_field f;
  char text[32];
  r->json.len = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(number, PB_VARINT)) continue;
    const int n = snprintf(text, sizeof text, "%c%llu", r->json.len ? ',' : '[', (unsigned long long)f.value);
    buf_append(&r->json, text, (size_t)n);
  }
  if (!r->json.len || !buf_append(&r->json, "]", 1)) return;
  args_str(r->t, trace_text(r->t, key), TK_ARG_JSON, trace_string(r->t, r->json.data, r->json.len));
}

/* ---- kernels and launches ---- */

static void put_dimension(struct perfetto *r, const char *key, const struct pb_field *field) {
  static const char *const AXES[] = {"", "x", "y", "z"};
  struct pb c = pb_inside(field);
  struct pb_field f;
  char text[32];
  while (pb_next(&c, &f)) {
    if (f.wire != PB_VARINT || f.number < 1 || f.number > 3) continue;
    snprintf(text, sizeof text, "%s.%s", key, AXES[f.number]);
    args_uint(r->t, trace_text(r->t, text), TK_ARG_UINT, f.value);
  }
}

/* Adds the value in a field of ExtraComputeArg as the arg `key`. */
static void put_value(struct perfetto *r, struct sequence *q, tk_id key, const struct pb_field *f) {
  switch (pb_field_key(f)) {
  case PB_KEY(COMPUTE_ARG_INT, PB_VARINT): args_int(r->t, key, (int64_t)f->value); break;
  case PB_KEY(COMPUTE_ARG_UINT, PB_VARINT): args_uint(r->t, key, TK_ARG_UINT, f->value); break;
  case PB_KEY(COMPUTE_ARG_DOUBLE, PB_FIXED64): args_double(r->t, key, pb_as_double(f->value)); break;
  case PB_KEY(COMPUTE_ARG_STRING, PB_BYTES): args_str(r->t, key, TK_ARG_STR, perfetto_field_text(r, f)); break;
  case PB_KEY(COMPUTE_ARG_STRING_IID, PB_VARINT): args_str(r->t, key, TK_ARG_STR, sequence_text(r, q, IID_VALUE, f->value)); break;
  default: break;
  }
}

/* Adds an ExtraComputeArg, or the arg of an annotation. `names`: kind of the interned text that is its name. */
static void put_typed_arg(struct perfetto *r, struct sequence *q, const struct pb_field *field, enum iid_kind names) {
  struct pb c = pb_inside(field);
  struct pb_field f, value = {0};
  tk_id key = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(COMPUTE_ARG_NAME_IID, PB_VARINT)) key = sequence_text(r, q, names, f.value);
    else if (pb_field_key(&f) == PB_KEY(COMPUTE_ARG_NAME, PB_BYTES)) key = perfetto_key(r, perfetto_field_text(r, &f));
    else value = f;
  }
  if (key) put_value(r, q, key, &value);
}

static void put_launch(struct perfetto *r, struct sequence *q, const struct pb_field *launch) {
  struct pb c = pb_inside(launch);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_LAUNCH_GRID, PB_BYTES)) put_dimension(r, "launch.grid_size", &f);
    if (pb_field_key(&f) == PB_KEY(GPU_LAUNCH_BLOCK, PB_BYTES)) put_dimension(r, "launch.workgroup_size", &f);
    if (pb_field_key(&f) == PB_KEY(GPU_LAUNCH_ARG, PB_BYTES)) put_typed_arg(r, q, &f, IID_COMPUTE_ARG);
  }
}

/* Finds an interned kernel. */
static bool find_kernel(const struct sequence *q, uint64_t iid, struct pb_field *kernel) {
  const tk_id at = sequence_find(q, IID_KERNEL, iid);
  if (!at) return false;
  struct pb c = pb_over(q->kernels.data + at - 1, q->kernels.len - (at - 1));
  return pb_next(&c, kernel);
}

static void put_kernel(struct perfetto *r, struct sequence *q, uint64_t iid) {
  struct pb_field kernel, f;
  if (!find_kernel(q, iid, &kernel)) return;
  for (struct pb c = pb_inside(&kernel); pb_next(&c, &f);) {
    const char *key = f.number == KERNEL_NAME ? "kernel_name" : f.number == KERNEL_DEMANGLED ? "kernel_demangled_name"
                      : f.number == KERNEL_ARCH ? "arch" : NULL;
    if (f.wire != PB_BYTES) continue;
    if (key) args_str(r->t, trace_text(r->t, key), TK_ARG_STR, perfetto_field_text(r, &f));
    if (f.number == KERNEL_ARG) put_typed_arg(r, q, &f, IID_COMPUTE_ARG);
  }
}

tk_id gpu_args_kernel_name(struct perfetto *r, const struct sequence *q, uint64_t iid) {
  struct pb_field kernel, f, name = {0};
  if (!find_kernel(q, iid, &kernel)) return 0;
  for (struct pb c = pb_inside(&kernel); pb_next(&c, &f);)
    if (f.wire == PB_BYTES && f.value && (f.number == KERNEL_DEMANGLED || (f.number == KERNEL_NAME && !name.p))) name = f;
  return name.p ? perfetto_field_text(r, &name) : 0;
}

/* ---- extra data ---- */

/* True if the text is an integer in its shortest spelling. Extra data consists of texts, but producers store numbers in it,
 * such as the correlation id of the launch. */
static bool is_integer(const struct pb_field *text, int64_t *value) {
  char copy[32] = {0}, printed[32];
  const uint8_t *end;
  if (text->value == 0 || text->value >= sizeof copy - 1) return false;
  memcpy(copy, text->p, (size_t)text->value);
  const struct num number = num_scan((const uint8_t *)copy, &end);
  *value = number.mant;
  return number.kind == NUM_INT && num_put_i64(printed, number.mant) == text->value && memcmp(printed, copy, (size_t)text->value) == 0;
}

static void put_extra(struct perfetto *r, const struct pb_field *field) {
  struct pb c = pb_inside(field);
  struct pb_field f, name = {0}, value = {.p = (const uint8_t *)""};
  int64_t number;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_EXTRA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(GPU_EXTRA_VALUE, PB_BYTES)) value = f;
  }
  if (!name.p) return;
  const tk_id key = perfetto_field_text(r, &name);
  if (is_integer(&value, &number)) args_int(r->t, key, number);
  else args_str(r->t, key, TK_ARG_STR, perfetto_field_text(r, &value));
}

/* ---- all args ---- */

uint32_t gpu_args_of(struct perfetto *r, struct sequence *q, const struct packet *k) {
  const struct pb_field *stage = &k->content;
  struct pb c = pb_inside(stage);
  struct pb_field f, launch = {0};
  uint64_t kernel = 0, device = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_NUMBER, PB_VARINT)) device = (uint32_t)f.value;
    if (pb_field_key(&f) == PB_KEY(GPU_KERNEL_IID, PB_VARINT)) kernel = f.value;
    if (pb_field_key(&f) == PB_KEY(GPU_LAUNCH, PB_BYTES)) launch = f;
  }
  args_begin(r->t);
  args_uint(r->t, trace_text(r->t, "device"), TK_ARG_UINT, device);
  put_numbers(r, stage, ROWS_OF(OF_STAGE));
  put_array(r, stage, GPU_SUBPASS_MASK, "render_subpass_index_mask");
  put_array(r, stage, GPU_WAIT_IDS, "event_wait_ids");
  put_kernel(r, q, kernel);
  put_launch(r, q, &launch);
  for (c = pb_inside(stage); pb_next(&c, &f);)
    if (pb_field_key(&f) == PB_KEY(GPU_EXTRA, PB_BYTES)) put_extra(r, &f);
  return args_end(r->t);
}

uint32_t gpu_args_of_annotation(struct perfetto *r, struct sequence *q, const struct packet *k) {
  const struct pb_field *note = &k->content;
  struct pb c = pb_inside(note);
  struct pb_field f;
  args_begin(r->t);
  args_uint(r->t, trace_text(r->t, "device"), TK_ARG_UINT, (uint32_t)head_number(note, GPU_NOTE_GPU, 0));
  put_numbers(r, note, ROWS_OF(OF_ANNOTATION));
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(GPU_NOTE_ARG, PB_BYTES)) put_typed_arg(r, q, &f, IID_KEY);
  return args_end(r->t);
}
