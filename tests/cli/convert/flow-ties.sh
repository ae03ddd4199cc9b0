# If both spans of a flow start at the same time, the flow is attached to its target's end, because the target's track is
# written first. If the target has no end, viewers do not show the flow, but its points are kept.
cat > in.json <<'J'
[{"ph":"X","pid":1,"tid":1,"ts":3.5,"dur":4,"name":"target"},{"ph":"X","pid":1,"tid":2,"ts":3.5,"dur":4,"name":"source"},
{"ph":"s","pid":1,"tid":2,"ts":4.25,"id":1,"cat":"c","name":"f"},{"ph":"f","bp":"e","pid":1,"tid":1,"ts":5.25,"id":1,"cat":"c","name":"f"},
{"ph":"B","pid":2,"tid":1,"ts":3.5,"name":"target"},{"ph":"B","pid":2,"tid":2,"ts":3.5,"name":"source"},
{"ph":"s","pid":2,"tid":2,"ts":4.25,"id":2,"cat":"c","name":"f"},{"ph":"f","bp":"e","pid":2,"tid":1,"ts":5.25,"id":2,"cat":"c","name":"f"}]
J
tracekit convert in.json -o out.pftrace
tracekit convert -q out.pftrace -f json -o - | grep -E '"ph":"[sf]"'
