tracekit __docs commands
