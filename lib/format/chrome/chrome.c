/* chrome.c - row of the format table for Chrome JSON, written by PyTorch's Kineto, JAX's trace.json.gz, viztracer, Chrome and
 * many others. */
#include "chrome.h"
#include "format/chrome/write/write.h"
#include "format/chrome/read/read.h"
#include "format/chrome/read/detect.h"

static const char *const ENDINGS[] = {".json", ".trace", NULL};
static const char *const WORDS[] = {"chrome", "kineto", NULL};

static const struct setting SETTINGS[] = {
    {.info = {"json", "pretty", "write one event per line, indented", true}, .flag = offsetof(struct sink_options, pretty)}};

const struct format format_chrome = {
    .settings = SETTINGS,
    .n_settings = sizeof SETTINGS / sizeof *SETTINGS,
    .in_parts = true,
    .info = {.name = "json",
             .title = "Chrome JSON",
             .ending = ".json",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_ALL & ~TK_HOLDS_MACHINES,
             .resolution = 1,
             .can_read = true,
             .can_write = true,
             .carries = true},
    .packed = true,
    .in_manifest = true,
    .json = true,
    .bid = chrome_bid,
    .is_trace = chrome_is_trace,
    .stated_rank = chrome_stated_rank,
    .stated_process = chrome_stated_process,
    .read = chrome_read,
    .writer = chrome_writer,
};
