cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert --dry-run t.json -o out.json && ls
tracekit convert -n t.json
touch out.json
tracekit convert -n t.json -o out.json; echo "status $?"
