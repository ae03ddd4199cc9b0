/* torch_allocators.h - PyTorch's operators that only allocate memory. An allocation is better named after the code that called them. */
#ifndef FORMAT_TORCH_ALLOCATORS_H
#define FORMAT_TORCH_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

/* True if the operator, named without "aten::" in n bytes, only allocates: "empty_strided". */
bool torch_only_allocates(const char *name, size_t n);

#endif
