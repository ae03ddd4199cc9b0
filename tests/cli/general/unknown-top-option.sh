tracekit --hlep
