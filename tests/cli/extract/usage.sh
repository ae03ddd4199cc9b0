. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
tracekit extract --latest --all logs; echo "status $?"
tracekit extract --rank x logs; echo "status $?"
tracekit extract --run 2027 logs; echo "status $?"
tracekit extract -f perfetto logs && tracekit extract -f xplane logs && ls
