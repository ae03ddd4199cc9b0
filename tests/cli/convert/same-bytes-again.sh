cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert t.json -o a.json.gz && tracekit convert a.json.gz -o b.json.gz && tracekit convert b.json.gz -o c.json.gz
cmp b.json.gz c.json.gz && gzip -t a.json.gz && echo stable
