cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
tracekit filter t.json.gz --min-dur 100us --keep parents -o out.json.gz | sed 's/, [0-9.]* [KM]*B$//'
tracekit check out.json.gz
tracekit filter t.json.gz --min-dur 100us --json -n -f json -o out2.json | python3 -c 'import json,sys; print(sorted(json.load(sys.stdin)))'
ls
