# A missing last brace is a repair, reported once; --strict refuses it, and -q is silent.
cp "$FIXTURES/nasty/json/object_missing_last_brace.json" t.json
tracekit convert t.json -o out.json; echo "status $?"
tracekit convert -q t.json -o quiet.json; echo "status $?"
tracekit convert --strict t.json -o strict.json; echo "status $?"
ls
