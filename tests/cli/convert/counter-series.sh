# Every series of a counter becomes a separate event in XPlane; converted back, the series form one counter again.
cat > in.json <<'END'
{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":20,"name":"a"},
{"ph":"C","pid":1,"tid":1,"ts":2,"name":"mem","args":{"used":5,"free":7.5,"x":"no","lost":0}},
{"ph":"C","pid":1,"tid":1,"ts":5,"name":"mem","args":{"used":6,"free":6.5}},
{"ph":"C","pid":1,"tid":1,"ts":5,"name":"one","args":{"v":6}}]}
END
tracekit convert -q --no-provenance in.json -o a.xplane.pb
tracekit info a.xplane.pb | grep -E 'read|events'
tracekit convert -q --no-provenance a.xplane.pb -f json -o -
tracekit convert -q --no-provenance a.xplane.pb -o b.xplane.pb && cmp a.xplane.pb b.xplane.pb && echo same
