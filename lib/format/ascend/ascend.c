/* ascend.c - entry of the format table for Ascend's databases (read-only). */
#include "ascend.h"

#include "format/ascend/read/read.h"

static const char *const ENDINGS[] = {".db", NULL};
static const char *const WORDS[] = {"msprof", "torch_npu", NULL};

const struct format format_ascend = {
    .info = {.name = "ascend",
             .title = "Ascend (database)",
             .ending = ".db",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_COUNTERS | TK_HOLDS_FLOWS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES | TK_HOLDS_METADATA,
             .resolution = 1000,
             .can_read = true},
    .binary = true,
    .bid = ascend_bid,
    .is_database = ascend_is_database,
    .read = ascend_read,
};
