cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert -v t.json -o out.json
