/* speedscope.c - row of the format table for the file format of https://www.speedscope.app. Only writing is supported, and only
 * spans. */
#include "speedscope.h"
#include "write.h"

static const char *const ENDINGS[] = {".speedscope.json", NULL};

const struct format format_speedscope = {
    .info = {.name = "speedscope",
             .title = "speedscope",
             .ending = ".speedscope.json",
             .endings = ENDINGS,
             .resolution = 1,
             .can_write = true},
    .needs_start = true,
    .own_order = true,
    .writer = speedscope_writer,
};
