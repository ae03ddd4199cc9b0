/* short_mangled.h - finds the function in a mangled C++ name of the Itanium ABI, which GCC and Clang write:
 * "_ZN4vllm7add_rmsIfEEvPT_" is the function add_rms in vllm.
 *
 * Profilers store names of kernels as they are in the code object if they have no demangler, as rpd does. */
#ifndef ANALYSIS_SHORT_MANGLED_H
#define ANALYSIS_SHORT_MANGLED_H

#include "short_text.h"

/* Finds the name of the function and the name of the namespace or class around it, which may be empty. Returns false for any other
 * text, and for names with parts that are not known here, such as constructors and operators. */
bool short_mangled(struct short_span s, struct short_span *outer, struct short_span *base);

#endif
