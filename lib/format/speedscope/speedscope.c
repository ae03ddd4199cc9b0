/* speedscope.c - row of the format table for the file format of https://www.speedscope.app. Spans and
 * stack samples are read and written. */
#include "speedscope.h"
#include "read/read.h"
#include "write.h"

static const char *const ENDINGS[] = {".speedscope.json", NULL};

const struct format format_speedscope = {
    .info = {.name = "speedscope",
             .title = "speedscope",
             .ending = ".speedscope.json",
             .endings = ENDINGS,
             .resolution = 1,
             .holds = TK_HOLDS_SAMPLES,
             .can_read = true,
             .can_write = true},
    .json = true,
    .bid = speedscope_bid,
    .read = speedscope_read,
    .needs_start = true,
    .own_order = true,
    .writer = speedscope_writer,
};
