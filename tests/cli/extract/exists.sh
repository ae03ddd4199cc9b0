# Existing files are not replaced, and this is checked before anything is written.
. "$SRC/tests/support/rundirs.sh"
jax_hosts logs 2026_11_20_12_00_00
echo mine > 2026_11_20_12_00_00.host-1.json.gz
tracekit extract --split logs; echo "status $?"
ls; cat 2026_11_20_12_00_00.host-1.json.gz
tracekit extract -q --force --split logs && ls
tracekit extract --split logs -o x.json; echo "status $?"
tracekit extract logs -o logs/plugins/profile/2026_11_20_12_00_00/host-0.xplane.pb --force; echo "status $?"
