cp "$FIXTURES/json/viz/viz_small.json" t.json
# How small a file becomes differs between processors.
{ tracekit convert t.json -o a.json.gz && tracekit convert a.json.gz -o b.json.gz && tracekit convert b.json.gz -o c.json.gz; } |
  sed -E 's/, [0-9.]+ KB$//'
cmp b.json.gz c.json.gz && gzip -t a.json.gz && echo stable
