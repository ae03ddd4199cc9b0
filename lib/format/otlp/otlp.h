/* otlp.h - row of OpenTelemetry's traces. */
#ifndef FORMAT_OTLP_OTLP_H
#define FORMAT_OTLP_OTLP_H

#include "format/format.h"

#endif
