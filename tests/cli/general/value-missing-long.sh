tracekit convert a.json --output
