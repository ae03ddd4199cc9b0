# Properties of Perfetto tracks that another format does not have are counted: a parent that is a named track, a description.
# descriptors: process 5, "queue" below it, "sub" below "queue"; a span on each
base64 -d > a.pftrace <<'E'
Cg1QAWgB4gMGCAEaAggFCg9QAeIDCggCIgQIBRAGKAEKEFAB4gMLCAkSBXF1ZXVlKAEKDkBkUAFaCEgBWAm6AQFhCgtAyAFQAVoESAJYCQoOUAHiAwkIChIDc3ViKAkKDkBuUAFaCEgBWAq6AQFiCgpAeFABWgRIAlgK
E
tracekit convert a.pftrace -o b.pftrace --no-loss -q && echo same format
tracekit convert a.pftrace -o b.json
tracekit convert a.pftrace -o c.json --no-loss
echo "status $?"
