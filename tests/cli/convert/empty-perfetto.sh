# Perfetto output can be read back even if the trace has no events.
echo '[]' > in.json
for ending in json pftrace xplane.pb json.gz pftrace.gz; do
  tracekit convert -q in.json --no-provenance -o "out.$ending" && tracekit convert -q "out.$ending" -f json --no-provenance -o - | head -n 3
done
