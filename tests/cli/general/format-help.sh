tracekit convert -f help
tracekit merge --format=help
