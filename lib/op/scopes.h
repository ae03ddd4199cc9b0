/* scopes.h - splits scope paths in args, such as XLA's "jit(step)/layer_3/dot_general". */
#ifndef OP_SCOPES_H
#define OP_SCOPES_H

#include <stddef.h>

/* Returns the length of the first scope of a path, which ends at a slash outside of parentheses. */
size_t scopes_part(const char *path);
/* Returns the length of the module's name in a scope of n bytes, and sets *name to its start. Skips JAX transformations around the
 * name: in "transpose(jvp(layer_3))", the name is layer_3. Returns 0 for scopes of programs, such as "jit(step)", and for empty
 * ones. */
size_t scopes_module(const char *part, size_t n, const char **name);

#endif
