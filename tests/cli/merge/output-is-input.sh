cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge --force rank0.json.gz rank1.json.gz -o rank1.json.gz; s=$?
cmp rank1.json.gz "$FIXTURES/json/torch/ddp2_plain/rank1.json.gz"; exit $s
