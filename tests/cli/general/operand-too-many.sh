tracekit convert a.json b.json -o c.json
