cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
tracekit size t.json.gz --top 2
tracekit size t.json.gz -f pftrace --top 1 | head -n 3
echo '{"traceEvents":[]}' | tracekit size -
tracekit size none.json
