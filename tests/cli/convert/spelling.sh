# Quoted numbers stay quoted, in every kind of record and after a rebase. Lost digits are reported, unless they exceed the
# precision of a double anyway.
cat > in.json <<'END'
[{"ph":"M","name":"thread_name","pid":"1","tid":2,"args":{"name":"t"}},
{"ph":"X","name":"a","pid":1,"tid":"2","ts":"10","dur":"5.25"},
{"ph":"X","name":"b","pid":"1","tid":2,"ts":11,"dur":1e0},
{"ph":"B","name":"c","pid":1,"tid":2,"ts":"20"},
{"ph":"E","pid":"1","tid":"2","ts":"30"},
{"ph":"i","s":"p","name":"d","pid":"1","tid":"2","ts":31},
{"ph":"C","name":"e","pid":"1","tid":"2","ts":"32","args":{"v":1}},
{"ph":"C","name":"e","pid":1,"tid":2,"ts":33,"args":{"v":2}},
{"ph":"b","cat":"f","id":1,"name":"f","pid":"1","tid":2,"ts":34},
{"ph":"e","cat":"f","id":1,"name":"f","pid":"1","tid":2,"ts":"36"},
{"ph":"s","id":1,"name":"g","pid":1,"tid":"2","ts":11},
{"ph":"f","id":1,"name":"g","pid":"1","tid":"2","ts":"21"},
{"ph":"O","name":"h","pid":"1","tid":"2","ts":"37"},
{"ph":"X","name":"i","pid":1,"tid":2,"ts":38.12345678,"dur":9.9999999999999995e-07}]
END
"$TRACEKIT" convert in.json -o out.json --no-provenance && cat out.json
"$TRACEKIT" rebase in.json --shift 1us -q -f json -o - --no-provenance | grep -c '"ts":"'
