/* gecko.c - row of the format table for profiles of the Firefox Profiler, from Firefox (Gecko), samply and others. Only reading is
 * supported. */
#include "gecko.h"

#include "read/read.h"

static const char *const ENDINGS[] = {".gecko.json", ".profile.json", NULL};
static const char *const WORDS[] = {"firefox", "samply", NULL};

const struct format format_gecko = {
    .info = {.name = "gecko",
             .title = "Firefox profile",
             .ending = ".gecko.json",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_SAMPLES | TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1,
             .can_read = true},
    .engine = {.thousands = 2, .no_module = "gecko"},
    .json = true,
    .bid = gecko_bid,
    .read = gecko_read,
};
