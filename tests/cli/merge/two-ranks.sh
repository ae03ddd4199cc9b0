cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge rank0.json.gz rank1.json.gz -o merged.json.gz && ls
