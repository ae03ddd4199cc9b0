. "$SRC/tests/support/rundirs.sh"
jax_run profiles/step_100 2026_11_20_11_06_10
jax_run profiles/step_20 2026_11_20_11_05_10
tracekit list profiles
tracekit list --step 20 profiles
cd profiles/step_100/plugins/profile/2026_11_20_11_06_10 && tracekit list
