tracekit cnvert a.json
