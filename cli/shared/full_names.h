/* full_names.h - the option that prints the full names of kernels. */
#ifndef CLI_SHARED_FULL_NAMES_H
#define CLI_SHARED_FULL_NAMES_H

#define ROW_FULL_NAMES(S, member)                                                                                       \
  { OPT_FLAG, 0, "full-names", 0, "print names of kernels as recorded, not shortened (JSON contains both)",      \
    offsetof(S, member), 0, 0, 0 }

#endif
