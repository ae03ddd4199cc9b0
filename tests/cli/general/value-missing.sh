tracekit convert a.json -o
