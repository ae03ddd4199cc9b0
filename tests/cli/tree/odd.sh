# Small or odd traces.
say() { echo "== $1"; printf '{"traceEvents":[%s]}' "$2" | tracekit tree - "${@:3}"; }
say empty ''
say 'instants and counters have no path' '{"ph":"i","name":"a","pid":1,"tid":1,"ts":1},{"ph":"C","name":"a","pid":1,"ts":1,"args":{"v":1}}'
say 'a name within itself' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":2}'
say 'a call within a call is none' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"a","pid":1,"tid":1,"ts":5,"dur":2},{"ph":"X","name":"a","pid":1,"tid":1,"ts":20,"dur":2}' --per a
say 'what is not selected is passed over' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":8},{"ph":"X","name":"c","pid":1,"tid":1,"ts":2,"dur":3}' --exclude b
say 'one that never ends has no time, and takes none' '{"ph":"B","name":"lost","pid":1,"tid":1,"ts":0},{"ph":"X","name":"in","pid":1,"tid":1,"ts":4,"dur":3}'
say 'overlaps' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":10}'
say 'a span that an end cuts off its parent keeps its children' "$(sed '1d;$d' "$FIXTURES/json/odd/cut.json")"
MALLOC_PERTURB_=65 say 'and what memory held before does not matter' '{"ph":"B","name":"pair","pid":1,"tid":1,"ts":2},{"ph":"X","name":"cut off","pid":1,"tid":1,"ts":3,"dur":9},{"ph":"X","name":"child","pid":1,"tid":1,"ts":3,"dur":1},{"ph":"E","pid":1,"tid":1,"ts":6}'
say 'cut' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":4}' --time 1us..4us
say 'names' '{"ph":"X","name":"a\u001b[31m\nb","pid":1,"tid":1,"ts":0,"dur":3},{"ph":"X","pid":1,"tid":1,"ts":7,"dur":1}'
say 'spans of no length' '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":0}'
kernel() { printf ',{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":%s,"ts":%s,"dur":%s,"args":{"stream":%s%s}}' "$1" "$2" "$3" "$4" "$2" "$5"; }
call() { printf ',{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%s,"dur":1,"args":{"correlation":%s}}' "$1" "$2"; }
annotated='{"ph":"X","cat":"user_annotation","name":"qkv","pid":1,"tid":1,"ts":0,"dur":10}'
say 'device time: on two streams at a time it counts once' "$annotated$(call 1 5; call 3 6; kernel k 7 20 10 ',"correlation":5'; kernel k 8 25 10 ',"correlation":6')"
say 'device time: without correlation, by a flow' "$annotated$(kernel k 7 20 10 '')"',{"ph":"s","cat":"f","name":"f","id":1,"pid":1,"tid":1,"ts":2},{"ph":"f","bp":"e","cat":"f","name":"f","id":1,"pid":0,"tid":7,"ts":20}'
say 'device time: correlation 0 is none' "$annotated$(call 1 0; kernel k 7 20 10 ',"correlation":0')"
say 'exact numbers' "$annotated$(call 1 5; kernel k 7 20 10.000001 ',"correlation":5')" --json
