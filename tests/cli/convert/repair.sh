# The last brace is missing: a repair, said once; refused with --strict; silent with -q.
cp "$FIXTURES/nasty/json/object_missing_last_brace.json" t.json
tracekit convert t.json -o out.json; echo "status $?"
tracekit convert -q t.json -o quiet.json; echo "status $?"
tracekit convert --strict t.json -o strict.json; echo "status $?"
ls
