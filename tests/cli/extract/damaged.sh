# A truncated file is saved as far as possible, and reported: which file, how many bytes, how many events.
. "$SRC/tests/support/rundirs.sh"
run=logs/plugins/profile/2026_11_20_12_00_00
mkdir -p $run
cp "$FIXTURES/nasty/gzip/truncated_mid.json.gz" $run/host-0.trace.json.gz
tracekit extract logs; echo "status $?"
tracekit extract --strict logs -o strict.json; echo "status $?"
cp "$FIXTURES/nasty/gzip/bit_flip.json.gz" $run/host-1.trace.json.gz
: > $run/host-2.trace.json.gz
tracekit extract logs -o merged.json.gz; echo "status $?"
tracekit extract --host host-2 logs -o none.json; echo "status $?"
tracekit info -q merged.json.gz | grep events
ls
