echo no > t.json
tracekit check t.json
