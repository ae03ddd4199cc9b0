# Sessions of one host, the newest first; the views that are passed over.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
jax_run logs 2026_11_20_11_06_14
tracekit list logs
