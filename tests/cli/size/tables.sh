cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
packed() { sed -E 's/[0-9.]+ [KM]?B compressed/N compressed/'; } # depends on the compression library
tracekit size t.json.gz --top 2 | packed
tracekit size t.json.gz -f pftrace --top 1 | packed | head -n 3
echo '{"traceEvents":[]}' | tracekit size - | packed
tracekit size none.json; echo "status $?"
# Each writer attributes its bytes, and the sum is the file size.
for f in json xplane perfetto; do
  tracekit size --json t.json.gz -f $f | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["bytes"] - sum(r["bytes"] for r in d["kinds"]), d["args"][0]["bytes"] > 0)'
  test "$(tracekit size --json t.json.gz -f $f | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes"])')" = "$(tracekit convert -q --no-provenance t.json.gz -f $f -o - | wc -c | tr -d ' ')" && echo $f
done
