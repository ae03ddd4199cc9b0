cp "$FIXTURES/json/viz/viz_small.json" t.json
mv t.json ./-t.json
tracekit convert -o out.json -- -t.json && ls
