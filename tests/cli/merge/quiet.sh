cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge -q rank?.json.gz -o merged.json.gz && ls
