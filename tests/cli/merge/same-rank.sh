cp "$FIXTURES"/nasty/merge/same_rank/?.json .
tracekit merge a.json b.json -o merged.json
