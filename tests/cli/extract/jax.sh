# Extracts the xplane.pb of the newest run, not the other files made from it, under a name chosen by tracekit; the lines that
# xprof derives are the same as with convert.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
jax_run logs 2026_11_20_11_06_14
tracekit extract logs && ls
tracekit extract -q --no-provenance logs -o a.json
tracekit convert -q --no-provenance --derive logs/plugins/profile/2026_11_20_11_06_14/vm.xplane.pb -o b.json
cmp a.json b.json
tracekit extract -q --no-provenance --no-derive logs -o c.json
tracekit convert -q --no-provenance logs/plugins/profile/2026_11_20_11_06_14/vm.xplane.pb -o d.json
cmp c.json d.json
