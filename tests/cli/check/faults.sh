cp "$FIXTURES/json/viz/viz_small.json" t.json
cp "$FIXTURES/nasty/json/object_missing_last_brace.json" u.json
tracekit check t.json u.json
