/* err.h - one error per call chain: the first one wins, each layer on the way up says where it was.
 *
 * Every function here accepts err == NULL and returns false, so that failing is one line: `return err_set(err, TK_EREAD, ...)`. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "tracekit.h"

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Sets code and message unless an error is set already.  Control characters and bad UTF-8 in the message become '?'. */
bool err_set(struct tk_err *err, enum tk_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same of an error that an option would have otherwise. */
bool err_for(struct tk_err *err, enum tk_option option, enum tk_code code, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* The same with the byte offset of the fault. */
bool err_at(struct tk_err *err, enum tk_code code, uint64_t offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* The same with errno, whose text is appended. */
bool err_sys(struct tk_err *err, enum tk_code code, int sys, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Puts "where: " before the message. */
bool err_prefix(struct tk_err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts ": more" behind it. */
bool err_append(struct tk_err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A message without the "where: " that it begins with. */
const char *err_without(const char *msg, const char *where);

/* Clears an error that was dealt with. */
void err_clear(struct tk_err *err);

#endif
