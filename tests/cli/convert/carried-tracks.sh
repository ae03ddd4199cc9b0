# Perfetto tracks keep their parent tracks in a round trip through formats that have no such property. The trace has these track
# descriptors: process 5, "queue" below it, "sub" below "queue"; a span on each
base64 -d > a.pftrace <<'E'
Cg1QAWgB4gMGCAEaAggFCg9QAeIDCggCIgQIBRAGKAEKEFAB4gMLCAkSBXF1ZXVlKAEKDkBkUAFaCEgBWAm6AQFhCgtAyAFQAVoESAJYCQoOUAHiAwkIChIDc3ViKAkKDkBuUAFaCEgBWAq6AQFiCgpAeFABWgRIAlgK
E
tracekit convert a.pftrace -o b.pftrace --no-loss -q && echo same format
for format in json xplane.pb; do
  tracekit convert a.pftrace -o b.$format --no-loss -q
  tracekit convert b.$format -o c.pftrace --no-loss -q
  cmp b.pftrace c.pftrace && echo "same by way of $format"
  rm c.pftrace
done
