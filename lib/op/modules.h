/* modules.h - recognises spans that are calls of a model's modules, and extracts the names of the modules. */
#ifndef OP_MODULES_H
#define OP_MODULES_H

#include <stddef.h>

/* If a span with this name is a call of a module, returns the module's name, and its length in *n; otherwise NULL. */
const char *modules_name(const char *name, size_t *n);

#endif
