/* nsys.c - row of the format table for Nsight Systems. Only reading is supported, because NVIDIA's viewer does not open databases. */
#include "nsys.h"

#include "format/nsys/read/ranks.h"
#include "format/nsys/read/read.h"

static const char *const ENDINGS[] = {".sqlite", ".nsys.sqlite", NULL};
static const char *const WORDS[] = {"nsight", "nsight-systems", NULL};

static const struct setting SETTINGS[] = {
    {.info = {"nsys", "sched", "read the scheduler: a row for each CPU, and the states of each thread", false},
     .with = TK_WITH_NSYS_SCHED}};

const struct format format_nsys = {
    .info = {.name = "nsys",
             .title = "Nsight Systems (SQLite)",
             .ending = ".sqlite",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_ASYNC | TK_HOLDS_FLOWS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES |
                      TK_HOLDS_SAMPLES,
             .resolution = 1000,
             .can_read = true},
    .binary = true,
    .settings = SETTINGS,
    .n_settings = sizeof SETTINGS / sizeof *SETTINGS,
    .bid = nsys_bid,
    .is_database = nsys_is_database,
    .ranks = nsys_ranks,
    .read = nsys_read,
};
