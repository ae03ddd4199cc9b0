/* scopes.h - paths of scopes in args, such as XLA's "jit(step)/layer_3/dot_general". */
#ifndef OP_SCOPES_H
#define OP_SCOPES_H

#include <stddef.h>

/* Returns the length of the first part of a path: up to a slash outside of parentheses. */
size_t scopes_part(const char *path);

#endif
