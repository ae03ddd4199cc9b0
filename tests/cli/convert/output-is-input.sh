cp "$FIXTURES/json/viz/viz_small.json" t.json
ln -s t.json link.json
tracekit convert t.json --force -o t.json; echo "status $?"
tracekit convert t.json --force -o link.json; echo "status $?"
cmp t.json "$FIXTURES/json/viz/viz_small.json" && ls
