tracekit info --max-memory=12Q a.json
