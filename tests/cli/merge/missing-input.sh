cp "$FIXTURES"/nasty/merge/same_pids/rank0.json .
tracekit merge rank0.json rank9.json -o merged.json; s=$?; ls; exit $s
