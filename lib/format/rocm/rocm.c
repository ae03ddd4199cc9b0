/* rocm.c - row of the format table for AMD's databases, which can only be read. */
#include "rocm.h"

#include "format/rocm/read/ranks.h"
#include "format/rocm/read/read.h"

static const char *const ENDINGS[] = {".rpd", "_results.db", NULL};
static const char *const WORDS[] = {"rocpd", "rocprof", NULL};

const struct format format_rocm = {
    .info = {.name = "rocm",
             .title = "ROCm (rpd, rocpd)",
             .ending = ".rpd",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_FLOWS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000,
             .can_read = true},
    .binary = true,
    .bid = rocm_bid,
    .is_database = rocm_is_database,
    .ranks = rocm_ranks,
    .read = rocm_read,
};
