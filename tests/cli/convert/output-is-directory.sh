cp "$FIXTURES/json/viz/viz_small.json" t.json
mkdir d
tracekit convert t.json -o d; echo "status $?"
tracekit convert t.json -o none/x.json; echo "status $?"
ls
