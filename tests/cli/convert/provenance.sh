cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert t.json | grep -c '"tracekit"'
tracekit convert --no-provenance t.json | grep -c '"tracekit"'; true
