cp "$FIXTURES/json/viz/viz_small.json" t.json
cp t.json u.json
tracekit info t.json none.json u.json
