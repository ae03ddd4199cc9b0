# Small or odd traces. Events without a known duration are counted, but are not in any sum.
say() { echo "== $1"; printf '{"traceEvents":[%s]}' "$2" | tracekit top -q - "${@:3}"; }
say empty ''
say 'one span' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}'
say 'instants alone' '{"ph":"i","name":"a","pid":1,"tid":1,"ts":1},{"ph":"i","name":"a","pid":1,"tid":1,"ts":5}'
say 'counters alone' '{"ph":"C","name":"a","pid":1,"ts":1,"args":{"v":1}},{"ph":"C","name":"a","pid":1,"ts":5,"args":{"v":2}}'
say 'spans of no length' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":0},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":0}'
say 'async spans: each has its own time' '{"ph":"b","cat":"c","id":1,"name":"a","pid":1,"tid":1,"ts":0},{"ph":"b","cat":"c","id":2,"name":"a","pid":1,"tid":1,"ts":1},{"ph":"e","cat":"c","id":1,"name":"a","pid":1,"tid":1,"ts":4},{"ph":"e","cat":"c","id":2,"name":"a","pid":1,"tid":1,"ts":5}'
say 'one that never ends takes no time from others' '{"ph":"X","name":"out","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"B","name":"lost","pid":1,"tid":1,"ts":2},{"ph":"X","name":"in","pid":1,"tid":1,"ts":4,"dur":3}'
say 'overlaps: the last to start has the time' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":10}'
say 'a name within itself' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":2}'
say 'on two threads' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"a","pid":1,"tid":2,"ts":5,"dur":10}'
say 'names' '{"ph":"X","name":"a\u001b[31m\nb\u202e","pid":1,"tid":1,"ts":0,"dur":3},{"ph":"X","name":"","pid":1,"tid":1,"ts":4,"dur":2},{"ph":"X","pid":1,"tid":1,"ts":7,"dur":1}'
say 'names in CSV' '{"ph":"X","name":"a,\"b\"\n","pid":1,"tid":1,"ts":0,"dur":3},{"ph":"X","name":"","pid":1,"tid":1,"ts":4,"dur":2},{"ph":"X","pid":1,"tid":1,"ts":7,"dur":1}' --csv
say 'more than 64 bits of picoseconds' "$(for i in 1 2 3; do printf '{"ph":"X","name":"a","pid":1,"tid":%s,"ts":0,"dur":4000000000000},' $i; done | sed 's/,$//')" --json
say 'to the picosecond' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0.000001,"dur":1.000002},{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":2}' --json
