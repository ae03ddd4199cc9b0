/* scopes.h - splits the paths of scopes that args contain, such as XLA's "jit(step)/layer_3/dot_general". */
#ifndef OP_SCOPES_H
#define OP_SCOPES_H

#include <stddef.h>

/* Returns the length of the first scope of a path, which ends at a slash outside of parentheses. */
size_t scopes_part(const char *path);

#endif
