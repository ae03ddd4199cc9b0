# Without a viewer it is said, and the run directory is gone again.
mkdir tmp
TMPDIR=$PWD/tmp PATH=/nonexistent "$TRACEKIT" view "$FIXTURES/json/viz/viz_small.json" --with xprof --no-browser
echo "status $?"
"$TRACEKIT" view "$FIXTURES/json/viz/viz_small.json" --with xprof --name x --no-browser
echo "status $?"
ls -A tmp
