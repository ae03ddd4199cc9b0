#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* Replaces control characters and invalid UTF-8 (such as a truncated character), because messages contain file names and
 * strings of traces. */
static void sanitize(char *s) {
  uint8_t *p = (uint8_t *)s;
  for (size_t n = strlen(s), len; n; p += len, n -= len) {
    len = utf8_sequence(p, n);
    if (!len || *p < 0x20 || *p == 0x7f) {
      *p = '?';
      len = 1;
    }
  }
}

static bool err_vset(struct tk_err *err, enum tk_code code, int sys, uint64_t offset, const char *fmt, va_list ap) {
  if (!err || err->code != TK_OK) return false;
  err->code = code;
  err->option = TK_OPTION_NONE;
  err->sys = sys;
  err->offset = offset;
  vsnprintf(err->msg, sizeof err->msg, fmt, ap);
  if (sys) {
    size_t n = strlen(err->msg);
    snprintf(err->msg + n, sizeof err->msg - n, ": %s", strerror(sys));
  }
  sanitize(err->msg);
  return false;
}

bool err_set(struct tk_err *err, enum tk_code code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  err_vset(err, code, 0, UINT64_MAX, fmt, ap);
  va_end(ap);
  return false;
}

bool err_for(struct tk_err *err, enum tk_option option, enum tk_code code, const char *fmt, ...) {
  va_list ap;
  if (!err || err->code != TK_OK) return false;
  va_start(ap, fmt);
  err_vset(err, code, 0, UINT64_MAX, fmt, ap);
  va_end(ap);
  err->option = option;
  return false;
}

bool err_at(struct tk_err *err, enum tk_code code, uint64_t offset, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  err_vset(err, code, 0, offset, fmt, ap);
  va_end(ap);
  return false;
}

bool err_sys(struct tk_err *err, enum tk_code code, int sys, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  err_vset(err, code, sys, UINT64_MAX, fmt, ap);
  va_end(ap);
  return false;
}

bool err_prefix(struct tk_err *err, const char *fmt, ...) {
  char where[sizeof err->msg / 2];
  size_t n, keep;
  va_list ap;
  if (!err || err->code == TK_OK) return false;
  va_start(ap, fmt);
  vsnprintf(where, sizeof where - 2, fmt, ap);
  va_end(ap);
  strcat(where, ": ");
  n = strlen(where);
  keep = strlen(err->msg);
  if (keep > sizeof err->msg - 1 - n) keep = sizeof err->msg - 1 - n;
  memmove(err->msg + n, err->msg, keep);
  memcpy(err->msg, where, n);
  err->msg[n + keep] = 0;
  sanitize(err->msg);
  return false;
}

bool err_append(struct tk_err *err, const char *fmt, ...) {
  va_list ap;
  if (!err || err->code == TK_OK) return false;
  const size_t n = strlen(err->msg);
  if (n + 3 >= sizeof err->msg) return false;
  memcpy(err->msg + n, ": ", 3);
  va_start(ap, fmt);
  vsnprintf(err->msg + n + 2, sizeof err->msg - n - 2, fmt, ap);
  va_end(ap);
  sanitize(err->msg);
  return false;
}

void err_clear(struct tk_err *err) {
  if (err) *err = (struct tk_err){.offset = UINT64_MAX};
}

const char *tk_option_field(enum tk_option option) {
  switch (option) {
  case TK_OPTION_NONE: break;
  case TK_OPTION_FORCE: return "tk_save_options.force";
  case TK_OPTION_FORMAT: return "tk_save_options.format";
  case TK_OPTION_NO_LOSS: return "tk_save_options.no_loss";
  case TK_OPTION_OUTPUT: return "output";
  case TK_OPTION_STRICT: return "tk_load_options.strict";
  case TK_OPTION_MAX_MEMORY: return "tk_load_options.max_memory";
  case TK_OPTION_MAX_SIZE: return "tk_load_options.max_size";
  case TK_OPTION_KEEP_GOING: return "tk_merge_options.keep_going";
  case TK_OPTION_MERGE_FIRST: return "tk_merge_options.keep_going";
  case TK_OPTION_HARD: return "tk_shrink_options.hard";
  case TK_OPTION_TIMEOUT: return "tk_sql_options.timeout_ms";
  case TK_OPTION_RUN: return "tk_source_options.run";
  case TK_OPTION_LATEST_GOOD: return "tk_source_options.latest_good";
  case TK_OPTION_STEP_NAME: return "tk_load_options.step_name";
  }
  return NULL;
}

const char *err_without(const char *msg, const char *where) {
  const size_t n = strlen(where);
  return strncmp(msg, where, n) == 0 && strncmp(msg + n, ": ", 2) == 0 ? msg + n + 2 : msg;
}
