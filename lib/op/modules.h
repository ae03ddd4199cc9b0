/* modules.h - recognises spans that are calls of a module of a model, and the names of the modules. */
#ifndef OP_MODULES_H
#define OP_MODULES_H

#include <stddef.h>

/* Returns the name of the module whose call a span with this name is, and its length; NULL if it is no such call. */
const char *modules_name(const char *name, size_t *n);

#endif
