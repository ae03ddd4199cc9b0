cat > t.json <<'JSON'
{"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","name":"a","pid":1,"tid":1,"ts":1500.25,"dur":10},
{"ph":"X","name":"b","pid":1,"tid":1,"ts":1502.000001,"dur":1},
{"ph":"X","name":"b","pid":1,"tid":1,"ts":1504,"dur":1}]}
JSON
show() { python3 -c 'import json,sys; t=json.load(sys.stdin, parse_float=str); print(t.get("baseTimeNanoseconds"), *[(e["ts"], e["dur"]) for e in t["traceEvents"] if e["ph"] == "X"])'; }
tracekit rebase -q t.json --to-zero -f json | show
tracekit rebase -q t.json --to 2ms -f json | show
tracekit rebase -q t.json --at b --nth 2 -f json | show
tracekit rebase -q t.json --shift -1.5ms -f json | show
tracekit rebase -q t.json --absolute -f json | show
tracekit rebase -q t.json --absolute -f json | tracekit rebase -q - --to-zero -f json | show
tracekit rebase -q t.json --scale 2 -f json | show
tracekit rebase -q t.json --scale -20ppm -f json | show
tracekit rebase -q t.json -o out.json; echo "status $?"
tracekit rebase -q t.json --to-zero --absolute -o out.json; echo "status $?"
tracekit rebase -q t.json --at c -o out.json; echo "status $?"
tracekit rebase -q t.json --shift 100000d -f json -o out.json; echo "status $?"; rm -f out.json
tracekit rebase -q t.json --shift 106751d --to 1e30 -o out.json; echo "status $?"
ls
