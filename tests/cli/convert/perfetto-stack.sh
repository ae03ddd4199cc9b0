# Spans that overlap inside an overlapping span are written once each; spans deeper than a reader's stack get a lane; numbers
# that a double cannot represent exactly are unchanged after a round trip.
cat > out.json <<'J'
[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10,"args":{"n":1e300,"m":-0.0,"d":100000000000000000000}},
{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":10},
{"ph":"X","name":"c","pid":1,"tid":1,"ts":6,"dur":20},
{"ph":"B","name":"d","pid":1,"tid":1,"ts":7},{"ph":"X","name":"e","pid":1,"tid":1,"ts":8,"dur":30},{"ph":"E","pid":1,"tid":1,"ts":9},
{"ph":"C","name":"counter","pid":1,"ts":1,"args":{"v":1e300}}]
J
tracekit convert -q out.json -o 1.pftrace && tracekit convert -q 1.pftrace -o 2.pftrace && tracekit convert -q 2.pftrace -o 3.pftrace
for f in out.json 1.pftrace 2.pftrace 3.pftrace; do tracekit info -q $f | grep events; done
tracekit convert -q 3.pftrace -f json -o - | grep -o '"args":.*'
awk 'BEGIN { for (i = 0; i < 520; i++) printf "%s{\"ph\":\"X\",\"name\":\"s%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d}", i ? "," : "[", i, i, 2000 - 2 * i; print "]" }' > deep.json
tracekit convert -q deep.json -o deep.pftrace && tracekit info -q -v deep.pftrace | grep -e events -e depth -e track_descriptor
