# Events with equal time keep their order: an inner span before the outer one, an instant and a begin before a span. An event
# that ends where others begin, and a begin/end pair of zero duration, are ordered by nesting.
cat > in.json <<'J'
[{"ph":"X","name":"inner","pid":1,"tid":1,"ts":10,"dur":5},
{"ph":"X","name":"outer","pid":1,"tid":1,"ts":10,"dur":20},
{"ph":"B","name":"begun","pid":1,"tid":1,"ts":40},
{"ph":"i","s":"t","name":"before","pid":1,"tid":1,"ts":40},
{"ph":"X","name":"long","pid":1,"tid":1,"ts":40,"dur":10},
{"ph":"X","name":"short","pid":1,"tid":1,"ts":40,"dur":2},
{"ph":"E","name":"begun","pid":1,"tid":1,"ts":45},
{"ph":"X","name":"late","pid":1,"tid":1,"ts":60,"dur":3},
{"ph":"B","name":"moment","pid":1,"tid":1,"ts":60},
{"ph":"E","name":"moment","pid":1,"tid":1,"ts":60},
{"ph":"X","name":"around","pid":1,"tid":1,"ts":60,"dur":9}]
J
tracekit convert -q in.json -o out.json
grep -o '"ph":"[^M]","name":"[^"]*"' out.json
tracekit convert -q out.json -o again.json
cmp out.json again.json
# After a selection, the remaining events are written in the order of nesting.
tracekit filter -q in.json --name inner --name outer -o part.json
grep -o '"ph":"[^M]","name":"[^"]*"' part.json
