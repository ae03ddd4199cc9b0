# The clocks of two ranks, computed from their scans, as text and as JSON.
cp "$FIXTURES"/json/torch/ddp4_full/rank[01].json.gz .
tracekit scan rank0.json.gz -o rank0.scan
tracekit scan --json rank1.json.gz -o rank1.scan
tracekit scan --join rank0.scan rank1.scan -o all.scan
tracekit plan all.scan -o plan.json
tracekit plan all.scan --json --require-align -o other.json
cmp plan.json other.json && cat plan.json
