# Args of flow points survive formats that have no place for them.
cat > in.json <<'END'
[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":20,"name":"a","args":{"own":1}},
{"ph":"s","pid":1,"tid":1,"ts":2,"id":5,"cat":"c","name":"f","args":{"x":1,"y":"q\"","z":[1,{"a":2.50}],"w":1.25,"n":null,"t":true,"big":12345678901234567890123}},
{"ph":"X","pid":1,"tid":2,"ts":5,"dur":20,"name":"b"},{"ph":"f","pid":1,"tid":2,"ts":6,"id":5,"bp":"e","cat":"c","name":"f"}]
END
tracekit convert -q in.json -o a.pftrace && tracekit convert -q a.pftrace -o b.xplane.pb
tracekit convert -q --no-provenance b.xplane.pb -f json -o -
