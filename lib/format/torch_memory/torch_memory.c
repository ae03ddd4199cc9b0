/* torch_memory.c - row of the format table for the memory snapshots of PyTorch's caching allocator
 * (torch.cuda.memory._dump_snapshot). Only reading is supported: the snapshot describes the allocator, which no trace contains. */
#include "torch_memory.h"

#include "format/torch_memory/read/read.h"

static const char *const ENDINGS[] = {".pickle", ".pkl", NULL};
static const char *const WORDS[] = {"memory-snapshot", "snapshot", "pickle", NULL};

const struct format format_torch_memory = {
    .info = {.name = "torch-memory",
             .title = "PyTorch memory snapshot",
             .ending = ".pickle",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_ASYNC | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000000,
             .can_read = true},
    .binary = true,
    .invents_pids = true,
    .bid = torch_memory_bid,
    .read = torch_memory_read,
};
