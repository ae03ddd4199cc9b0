tracekit convert --level 10 a.json
