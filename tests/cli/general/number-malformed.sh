tracekit convert --level=fast a.json
