# If the xplane.pb is empty or invalid, the next best view is used; this is reported, and --strict fails.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
run=logs/plugins/profile/2026_11_20_11_06_10
: > $run/vm.xplane.pb
tracekit extract logs; echo "status $?"
tracekit extract --strict logs -o strict.json; echo "status $?"
echo garbage > $run/vm.xplane.pb
tracekit extract logs -o b.json; echo "status $?"
: > $run/vm.trace.json.gz
tracekit extract logs -o c.json; echo "status $?"
ls
