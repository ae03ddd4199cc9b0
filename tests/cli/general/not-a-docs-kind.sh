tracekit __docs sonnet
