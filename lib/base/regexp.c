/* regexp.c - see regexp.h. */
#include "regexp.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

enum {
  LENGTH_MOST = 1 << 16, /* longest expression, in bytes */
  HEAP_MOST = 16 << 10,  /* KiB available for backtracking */
  /* Limit for the steps per text. A typical expression takes about as many steps as the text has bytes, times the alternatives.
   * Reaching this limit on a text of 100 bytes took 3 ms. */
  STEPS = 50000,
  STEPS_A_BYTE = 1000
};

struct regexp {
  struct mem *mem;
  pcre2_general_context *general;
  pcre2_match_context *limits;
  pcre2_match_data *data;
  pcre2_code *code;
  const char *text;
  bool gave_up;
  char on[64]; /* beginning of the first text for which a limit was exceeded */
};

static void *take_memory(size_t n, void *mem) { return mem_alloc(mem, n); }
static void give_memory(void *p, void *mem) { mem_free(mem, p); }

static struct regexp *regexp_prepare(const char *text, struct mem *mem) {
  struct regexp *r = mem_alloc(mem, sizeof *r);
  if (!r) return NULL;
  *r = (struct regexp){.mem = mem, .text = text, .general = pcre2_general_context_create(take_memory, give_memory, mem)};
  if (r->general) r->limits = pcre2_match_context_create(r->general);
  if (r->limits) r->data = pcre2_match_data_create(1, r->general);
  if (r->data) {
    pcre2_set_heap_limit(r->limits, HEAP_MOST);
    return r;
  }
  regexp_free(r);
  return NULL;
}

void regexp_free(struct regexp *r) {
  if (!r) return;
  pcre2_code_free(r->code);
  pcre2_match_data_free(r->data);
  pcre2_match_context_free(r->limits);
  pcre2_general_context_free(r->general);
  mem_free(r->mem, r);
}

/* Returns PCRE2's error code, with its byte position in `at`; 0 = success. */
static int compile(struct regexp *r, size_t *at) {
  const uint32_t how = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
  pcre2_compile_context *context = pcre2_compile_context_create(r->general);
  int code = PCRE2_ERROR_NOMEMORY;
  if (!context) return code;
  pcre2_set_max_pattern_length(context, LENGTH_MOST);
  r->code = pcre2_compile((PCRE2_SPTR)r->text, PCRE2_ZERO_TERMINATED, how, &code, at, context);
  pcre2_compile_context_free(context);
  return r->code ? 0 : code;
}

struct regexp *regexp_new(const char *text, struct mem *mem, char *why, size_t size) {
  struct regexp *r = regexp_prepare(text, mem);
  PCRE2_UCHAR said[120] = "";
  size_t at = 0;
  int code = r ? compile(r, &at) : PCRE2_ERROR_NOMEMORY;
  if (code == 0) return r;
  pcre2_get_error_message(code, said, sizeof said);
  snprintf(why, size, "%s at character %zu", (const char *)said, at + 1);
  regexp_free(r);
  return NULL;
}

bool regexp_matches(struct regexp *r, const char *text) {
  size_t n = strlen(text);
  uint64_t steps = STEPS + (uint64_t)n * STEPS_A_BYTE;
  pcre2_set_match_limit(r->limits, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
  int found = pcre2_match(r->code, (PCRE2_SPTR)text, n, 0, 0, r->data, r->limits);
  if (found >= 0) return true;
  if (found == PCRE2_ERROR_NOMATCH || r->gave_up) return false;
  r->gave_up = true;
  snprintf(r->on, sizeof r->on, "%s", text);
  return false;
}

bool regexp_check(const struct regexp *r, struct tk_err *err) {
  if (!r || !r->gave_up) return true;
  return err_set(err, TK_ELIMIT, "the regular expression '%.200s' takes too many steps on '%s'; simplify it", r->text, r->on);
}
