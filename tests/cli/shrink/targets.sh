cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
numbers() { sed -E 's/[0-9.,]+ ([KM]?B|of|events|s\b)/N \1/g'; } # the size that fits depends on the compression library
tracekit shrink t.json.gz --to 100K -o a.json.gz | numbers
tracekit shrink t.json.gz --percent 40 -o a.json -n
tracekit shrink t.json.gz --events 1000 -o b.json | tail -n 1
tracekit shrink t.json.gz --events 1000 -n -f json --json | grep input_bytes
tracekit shrink --events 1000 -n -f json --json < t.json.gz | grep input_bytes
tracekit shrink t.json.gz --lossless -o c.json.gz | numbers
[ "$(wc -c < a.json.gz)" -le 102400 ] && tracekit check a.json.gz b.json c.json.gz
tracekit shrink -q t.json.gz --events 100 --keep 'name ~ "aten::mm*"' --ladder spans,counters --hard -o d.json; echo "status $?"
tracekit shrink t.json.gz --to 1K -o e.json; echo "status $?"
tracekit shrink t.json.gz -o e.json; echo "status $?"
tracekit shrink t.json.gz --to 1M --events 10 -o e.json; echo "status $?"
tracekit shrink t.json.gz --percent 0 -o e.json; echo "status $?"
tracekit shrink t.json.gz --percent 5 --ladder args,spams -o e.json; echo "status $?"
tracekit shrink t.json.gz --percent 5 --keep 'nmae == x' -o e.json; echo "status $?"
ls
