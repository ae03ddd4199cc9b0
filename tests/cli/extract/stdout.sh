. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
tracekit extract logs -o - > a.json
tracekit extract -q logs -o b.json; cmp a.json b.json
tracekit extract --json logs | sed 's/bytes": [0-9]*/bytes": N/'
tracekit extract -n logs -o c.json
ls
