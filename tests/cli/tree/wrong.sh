# Invalid arguments are reported before anything is read.
try() { tracekit tree "$@" > /dev/null; echo "status $?"; }
try none.json --by kind
try none.json --by colour
try none.json --svg --folded
try none.json --json --svg
try none.json -e 'dur > 10'
try none.json --top 0
try none.json
