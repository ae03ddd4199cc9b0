# With several inputs, all arguments are checked before the first input is read.
trace() { printf '{%s"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":%s,"dur":1}]}' "$2" "$1"; }
mkdir a b out
trace 100 > a/x.json
trace 200 > b/y.json
gzip -k a/x.json
tracekit convert -q a/x.json -o a/s.pftrace
: > out/y.json
tracekit rebase a/x.json b/y.json --to-zero -o out; echo "status $?"
tracekit rebase - b/y.json --to-zero -o out < a/x.json; echo "status $?"
tracekit rebase a/x.json a b/y.json --to-zero -o out; echo "status $?"
tracekit rebase a/x.json a/s.pftrace --to-zero -f json -o nowhere; echo "status $?"
ls out
rm out/y.json

# Names follow the format and compression of the output.
tar cf t.tar b/y.json
tracekit rebase -q a/x.json.gz a/s.pftrace b/ t.tar t.tar:b/y.json --shift 1us -f json -o out; echo "status $?"
for f in out/*; do printf '%s %s\n' "$f" "$(tracekit info --json "$f" | grep -o '"format": *"[a-z]*"')"; done
tracekit rebase -q a/x.json b/y.json --shift 1us -f xplane -o out; echo "status $?"
ls out
rm out/*

# If a later input fails, the files already written are reported.
echo '[{' > b/broken.json
tracekit rebase -q --strict a/x.json b/broken.json --shift 1us -o out 2>&1 | grep -o 'out/.*'; echo "status ${PIPESTATUS[0]}"

# Inputs with different clocks have no common earliest event, so --to-zero fails.
trace 300 '"baseTimeNanoseconds":1700000000000000000,' > b/real.json
rm out/*
tracekit rebase -q a/x.json b/real.json --to-zero -o out; echo "status $?"
ls out

# Invalid values are refused before reading.
tracekit rebase missing.json --to-zero --nth 3 -o z.json; echo "status $?"
tracekit rebase missing.json --scale fast -o z.json; echo "status $?"
tracekit rebase missing.json --to-zero -o z.foo; echo "status $?"
tracekit rebase missing.json --to-zero -o nowhere/z.json; echo "status $?"
