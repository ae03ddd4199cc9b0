cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
packed() { sed -E 's/[0-9.]+ [KM]?B compressed/N compressed/'; } # depends on the library that does it
tracekit size t.json.gz --top 2 | packed
tracekit size t.json.gz -f pftrace --top 1 | packed | head -n 3
echo '{"traceEvents":[]}' | tracekit size - | packed
tracekit size none.json
