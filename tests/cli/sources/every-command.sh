# Every command reads the best file of the newest run, whichever folder is named.
. "$SRC/tests/support/rundirs.sh"
jax_hosts logs 2026_11_20_12_00_00
jax_run logs 2026_11_20_11_06_14
for source in logs logs/plugins logs/plugins/profile logs/plugins/profile/2026_11_20_12_00_00; do
  tracekit info -q --json $source | grep -c '"input".*host-.*xplane.pb'
done
tracekit check -q logs && tracekit dump --graph -q logs | grep -c '^'
tracekit convert -q logs -o c.json && tracekit merge -q logs -o m.json && tracekit info -q c.json m.json | grep events
tracekit convert --json logs -o d.json | sed 's/bytes": [0-9]*/bytes": N/'
