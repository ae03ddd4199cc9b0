. "$SRC/tests/support/rundirs.sh"
jax_run logs/step_7 2026_11_20_11_06_10
tracekit list --json logs
