# A flow from a span to itself remains a flow in Perfetto and after the round trip.
cat > a.json <<'J'
[{"ph":"X","name":"a","pid":0,"tid":1,"ts":0,"dur":10},{"ph":"s","name":"f","cat":"c","id":1,"pid":0,"tid":1,"ts":1},
{"ph":"f","bp":"e","name":"f","cat":"c","id":1,"pid":0,"tid":1,"ts":3}]
J
tracekit convert a.json -o a.pftrace --no-loss && tracekit info -q a.pftrace | grep flows
tracekit convert -q a.pftrace -f json -o - | grep '"name":"f"'
