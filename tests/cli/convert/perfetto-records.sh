# Perfetto output keeps data that its viewers ignore: records of any track, and counter events whose samples do not describe
# them completely. An operation that drops, moves or renames events changes these records as in JSON: removed data does not come
# back.
cat > a.json <<'J'
{"traceEvents":[
{"ph":"M","name":"of no track","args":{"a":1}},
{"ph":"M","name":"of a thread alone","tid":5,"args":{"a":1}},
{"ph":"M","name":"process_name","pid":1,"ts":3.5,"cat":"__metadata","args":{"name":"p"}},
{"ph":"M","name":"num_cpus","pid":1,"tid":0,"args":{"number":8}},
{"ph":"B","name":"x","cat":"c","pid":1,"tid":1,"ts":10},{"ph":"E","name":"x","cat":"c","pid":1,"tid":1,"ts":15},
{"ph":"O","name":"object","id":"0x1","pid":1,"tid":1,"ts":12.5,"args":{"snapshot":"/9j/"}},
{"ph":"N","name":"early","id":"0x1","pid":1,"tid":1,"ts":-5},
{"ph":"C","name":"c","cat":"z","id":7,"pid":1,"tid":"t","ts":11,"args":{"a":1,"v":null,"b":"007","d":0.12345678901234567890,"e":18446744073709551615}},
{"ph":"C","name":"c","pid":1,"tid":"8","ts":12,"args":{"a":1}},{"ph":"C","name":"c","pid":1,"tid":9,"ts":13,"args":{"v":null}}]}
J
tracekit convert -q a.json -o b.json --no-provenance
tracekit convert a.json -o a.pftrace --no-loss && tracekit convert -q a.pftrace -o c.json --no-provenance
sort b.json > b.txt; sort c.json | diff b.txt - && echo the same records
tracekit convert -q a.pftrace -o again.pftrace && cmp a.pftrace again.pftrace
for f in json pftrace; do
  tracekit rebase -q --shift 10us a.$f -o moved.$f && tracekit filter -q --kind span --drop-args a a.$f -o less.$f
  tracekit merge -q a.$f a.$f -o merged.$f
done
for what in moved less merged; do
  for f in json pftrace; do tracekit convert -q $what.$f -f json -o - --no-provenance | grep -v -e '^"' -e process_sort -e rank | sed 's/,$//' | sort > $what.$f.txt; done
  diff $what.json.txt $what.pftrace.txt && wc -l < $what.json.txt
done
