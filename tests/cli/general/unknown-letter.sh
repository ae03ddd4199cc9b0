tracekit convert -Z a.json
