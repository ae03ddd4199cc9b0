# Events in time order: as text, as JSON lines, as CSV.
cat > t.json <<'J'
[{"ph":"M","name":"process_name","pid":1,"args":{"name":"py"}},
{"ph":"X","name":"outer","cat":"c","pid":1,"tid":2,"ts":1000.5,"dur":2500,"args":{"n":1,"f":1.50,"s":"a \"b\"","l":[1,2],"z":null}},
{"ph":"X","name":"inner, \"q\"","pid":1,"tid":2,"ts":1500.000001,"dur":0.25},
{"ph":"i","name":"mark","pid":1,"tid":2,"ts":9000,"s":"t"},
{"ph":"C","name":"mem","pid":1,"ts":900,"args":{"bytes":7}}]
J
tracekit dump t.json
tracekit dump t.json --head 2
tracekit dump t.json --jsonl
tracekit dump t.json --jsonl | python3 -c 'import json, sys; print(sum("name" in json.loads(l) for l in sys.stdin))'
tracekit dump t.json --csv
tracekit dump t.json --csv --jsonl
