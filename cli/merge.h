/* merge.h - words of merge's options that plan and view accept too. */
#ifndef CLI_MERGE_H
#define CLI_MERGE_H

#include "options/opt.h"

extern const struct opt_word merge_align_words[], merge_group_words[];

#endif
