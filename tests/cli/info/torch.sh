cp "$FIXTURES/json/torch/ddp4_full/rank2.json.gz" .
tracekit info rank2.json.gz
