# A name that is not there is left out of what is written to one file, and makes the status 3; with --strict nothing is written.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_10_00_00
tracekit extract none logs -o a.json.gz; echo "status $?"
tracekit extract --strict none logs -o b.json.gz; echo "status $?"
ls
# Nothing of the newest run can be read: the message names the run that can.
mkdir -p logs/plugins/profile/2026_11_20_11_00_00
: > logs/plugins/profile/2026_11_20_11_00_00/vm.xplane.pb
tracekit extract logs -o c.json.gz; echo "status $?"
tracekit extract -q logs --run 2026_11_20_10_00_00 -o c.json.gz; echo "status $?"
