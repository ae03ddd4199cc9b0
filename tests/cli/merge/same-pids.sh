cp "$FIXTURES"/nasty/merge/same_pids/rank?.json .
tracekit merge rank0.json rank1.json -o merged.json
