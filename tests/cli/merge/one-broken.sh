cp "$FIXTURES"/nasty/merge/one_broken/rank?.json .
cp "$FIXTURES/nasty/gzip/deflate_raw.json.deflate" rank2.json
tracekit merge rank0.json rank2.json -o merged.json; echo "status $?"; ls
tracekit merge --keep-going rank0.json rank2.json -o merged.json; echo "status $?"; ls
