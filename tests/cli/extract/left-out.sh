# A missing input is left out of a single output file, and gives status 3; with --strict nothing is written.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_10_00_00
tracekit extract none logs -o a.json.gz; echo "status $?"
tracekit extract --strict none logs -o b.json.gz; echo "status $?"
ls
# If the newest run is unreadable, the message names the run that can be read.
mkdir -p logs/plugins/profile/2026_11_20_11_00_00
: > logs/plugins/profile/2026_11_20_11_00_00/vm.xplane.pb
tracekit extract logs -o c.json.gz; echo "status $?"
tracekit extract -q logs --run 2026_11_20_10_00_00 -o c.json.gz; echo "status $?"
