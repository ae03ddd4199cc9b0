# Invalid arguments are reported before anything is read.
cp "$FIXTURES/json/viz/viz_small.json" . && T=viz_small.json
try() { tracekit top "$@" > /dev/null; echo "status $?"; }
try none.json --by nam
try none.json --by arg.
try none.json --by colour
try none.json --cols bytes
try none.json --sort totl
try none.json --json --csv
try none.json -e 'dur > 10'
try none.json --step x
try none.json --kind kernl
try none.json --rank a
try none.json --top 0
try none.json
try "$T" --step 3
try "$T" --time 5s..2s
