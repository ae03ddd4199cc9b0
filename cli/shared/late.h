/* late.h - finds functions of a shared library that only few commands need, so that the others start without loading it.
 *
 *     #define LIBX_FUNCTIONS(f) f(x_open) f(x_close)
 *     static struct libx { LIBX_FUNCTIONS(LATE_MEMBER) } libx;
 *     ... LATE_FIND(TK_LATE_X, libx, LIBX_FUNCTIONS) ... libx.x_open(...)
 *
 * If the build does not define the name of the library (TK_LATE_X), as in a static build, the functions are linked: use
 * LATE_LINK. */
#ifndef CLI_SHARED_LATE_H
#define CLI_SHARED_LATE_H

#include <stdbool.h>
#include <stddef.h>

#define LATE_MEMBER(name) __typeof__(&(name)) name;
#define LATE_NAME(name) #name,
#define LATE_VALUE(name) .name = (name),

/* Fills the struct of pointers to the functions. False if the library is not installed. */
#define LATE_FIND(library, functions, list) \
  late_find((library), (const char *const[]){list(LATE_NAME)}, sizeof(functions) / sizeof(void *), &(functions))
#define LATE_LINK(functions, list) ((functions) = (__typeof__(functions)){list(LATE_VALUE)}, true)

bool late_find(const char *library, const char *const *names, size_t n, void *functions);

#endif
