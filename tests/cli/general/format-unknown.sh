tracekit convert -f jsn a.json -o b.json
