# Details of events survive each format and a merge: decimals of quoted times, empty records, missing names, flows by bind_id
# (without an arg that tracekit adds), and the scope of global instants.
cat > in.json <<'J'
[{"ph":"X","name":"a","pid":1,"tid":1,"ts":"1742490378358140.950","dur":"28.190","bind_id":"0x1","flow_out":true},
{"ph":"X","pid":1,"tid":1,"ts":"1742490378358180.000","dur":5,"bind_id":"0x1","flow_in":true},{},
{"ph":"i","name":"i","s":"g","pid":1,"tid":1,"ts":1742490378358190}]
J
for ending in json pftrace xplane.pb; do
  tracekit convert -q --no-provenance --no-loss in.json -o "a.$ending"
  tracekit convert -q --no-provenance "a.$ending" -o back.json --force
  echo "== $ending" && cat back.json
done
sed 's/"pid":1/"pid":2/g' in.json > other.json
tracekit merge -q --no-provenance in.json other.json -o both.json && grep '"i"' both.json
