cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit info < t.json
