. "$SRC/tests/support/rundirs.sh"
jax_run profiles/step_100 2026_11_20_11_06_10
jax_run profiles/step_20 2026_11_20_11_05_10
tracekit extract --step 20 profiles
tracekit extract --step 21 profiles; echo "status $?"
cd profiles/step_20/plugins && tracekit extract && ls
