tracekit convert --strct a.json
