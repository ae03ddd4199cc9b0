# A missing viewer is reported, and the run directory is removed.
mkdir tmp
TMPDIR=$PWD/tmp PATH=/nonexistent "$TRACEKIT" view "$FIXTURES/json/viz/viz_small.json" --with xprof --no-browser
echo "status $?"
"$TRACEKIT" view "$FIXTURES/json/viz/viz_small.json" --with xprof --name x --no-browser
echo "status $?"
ls -A tmp
