cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge --align=none rank?.json.gz -o merged.json.gz
