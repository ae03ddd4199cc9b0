tracekit help mrege
