/* rocm.c - rows of the format table for AMD's databases and rocprof's JSON and CSV. All of them can only be read. */
#include "rocm.h"

#include "format/rocm/read/csv.h"
#include "format/rocm/read/ranks.h"
#include "format/rocm/read/read.h"
#include "format/rocm/read/rocprof.h"

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

static const char *const ROCPROF_ENDINGS[] = {"_results.json", NULL};
static const char *const ROCPROF_WORDS[] = {"rocprofiler-sdk", NULL};

const struct format format_rocprof = {
    .info = {.name = "rocprofv3",
             .title = "rocprofv3 JSON",
             .ending = "_results.json",
             .endings = ROCPROF_ENDINGS,
             .words = ROCPROF_WORDS,
             .holds = TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_FLOWS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000,
             .can_read = true},
    .json = true,
    .bid = rocprof_bid,
    .read = rocprof_read,
};

static const char *const CSV_ENDINGS[] = {"_trace.csv", "_collection.csv", "results.csv", NULL};

const struct format format_rocprof_csv = {
    .info = {.name = "rocprof-csv",
             .title = "rocprof CSV",
             .ending = "_trace.csv",
             .endings = CSV_ENDINGS,
             .holds = TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000,
             .can_read = true},
    .bid = csv_bid,
    .read = csv_read,
};
