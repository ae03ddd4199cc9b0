/* short_mangled.h - finds the function in a mangled C++ name of the Itanium ABI, which GCC and Clang write: "_ZN4vllm7add_rmsIfEEvPT_"
 * is the function add_rms in vllm.
 *
 * Profilers without a demangler, such as rpd, store the mangled names of the code object. */
#ifndef ANALYSIS_SHORT_MANGLED_H
#define ANALYSIS_SHORT_MANGLED_H

#include "short_text.h"

/* Finds the name of the function, and the name of the namespace or class around it, which may be empty. Returns false if the text is
 * not a mangled name, or has parts that are not supported, such as constructors and operators. */
bool short_mangled(struct short_span s, struct short_span *outer, struct short_span *base);

#endif
