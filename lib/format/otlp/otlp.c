/* otlp.c - row of the format table for traces of OpenTelemetry in JSON (OTLP). Only reading is supported. */
#include "otlp.h"

#include "read.h"

static const char *const ENDINGS[] = {".otlp.json", ".otlp.jsonl", NULL};
static const char *const WORDS[] = {"opentelemetry", "otel", NULL};

const struct format format_otlp = {
    .info = {.name = "otlp",
             .title = "OpenTelemetry JSON",
             .ending = ".otlp.json",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_INSTANTS | TK_HOLDS_ASYNC | TK_HOLDS_FLOWS | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000,
             .can_read = true},
    .json = true,
    .bid = otlp_bid,
    .read = otlp_read,
};
