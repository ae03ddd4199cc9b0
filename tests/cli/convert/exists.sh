cp "$FIXTURES/json/viz/viz_small.json" t.json
echo precious > out.json
tracekit convert t.json -o out.json
echo "status $?"; cat out.json
tracekit convert t.json --force -o out.json && grep -c traceEvents out.json
