cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge rank?.json.gz > a.json
tracekit merge -q rank?.json.gz -o b.json
cmp a.json b.json && ls
