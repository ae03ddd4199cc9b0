/* err.h - one error per call chain: the first one wins, and each caller adds its location.
 *
 * Every function here accepts err == NULL and returns false, so that a caller can fail in one line: `return err_set(err,
 * TK_EREAD, ...)`. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "tracekit.h"

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Sets code and message, unless an error is set already. Control characters and invalid UTF-8 in the message become '?'. */
bool err_set(struct tk_err *err, enum tk_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Same as err_set, for an error that the user could avoid with an option. */
bool err_for(struct tk_err *err, enum tk_option option, enum tk_code code, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Same as err_set, with the byte offset of the error. */
bool err_at(struct tk_err *err, enum tk_code code, uint64_t offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Same as err_set, with errno, whose description is appended to the message. */
bool err_sys(struct tk_err *err, enum tk_code code, int sys, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Inserts "where: " before the message. */
bool err_prefix(struct tk_err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Appends ": more" to the message. */
bool err_append(struct tk_err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Returns the message without its prefix "where: ". */
const char *err_without(const char *msg, const char *where);

/* True if the input cannot be read because of its contents. */
static inline bool err_is_damage(const struct tk_err *err) { return err->code == TK_EFORMAT || err->code == TK_ECORRUPT; }

/* Clears an error that was handled. */
void err_clear(struct tk_err *err);

#endif
