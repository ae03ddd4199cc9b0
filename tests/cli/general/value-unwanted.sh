tracekit convert --force=yes a.json
