# Binary traces damaged by a text filter, compressed or not, are reported as such.
through_text() { LC_ALL=C sed 's/[\x80-\xff]/\xef\xbf\xbd/g' "$1" > "$2"; }
for f in tpu gpu; do
  through_text "$FIXTURES/xplane/synth/$f.xplane.pb" $f.xplane.pb
  tracekit convert -q "$FIXTURES/xplane/synth/$f.xplane.pb" -o whole.pftrace --force
  through_text whole.pftrace $f.pftrace
  through_text "$FIXTURES/perfetto/small.pftrace.gz" $f.gz
  for t in $f.xplane.pb $f.pftrace $f.gz; do tracekit info $t; echo "exit $?"; done
done 2>&1
