. "$SRC/tests/support/rundirs.sh"
jax_hosts logs 2026_11_20_12_00_00
tracekit list --deep logs
