# Sessions of one host, newest first, with other files of a session that are not read.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
jax_run logs 2026_11_20_11_06_14
tracekit list logs
