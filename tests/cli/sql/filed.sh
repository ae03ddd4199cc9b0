# Tables of a Perfetto file that was converted from JSON have the same rows as trace_processor gives for this file: names of
# series, tracks of async spans, global instants, flows. The data that restores the JSON is not read.
q() { tracekit sql -q "$1" --csv -e "$2"; }
cat > async.json <<'J'
[{"name":"a","cat":"c","ph":"b","id":"0x1","pid":5,"tid":1,"ts":12},{"name":"a","cat":"c","ph":"e","id":"0x1","pid":5,"tid":1,"ts":14},{"name":"b","cat":"c","ph":"b","id":"0x1","pid":5,"tid":1,"ts":22},{"name":"b","cat":"c","ph":"e","id":"0x1","pid":5,"tid":1,"ts":24}]
J
cat > counter.json <<'J'
[{"name":"mem","ph":"C","pid":5,"tid":1,"ts":11,"args":{"used":2.5,"free":7}},{"name":"mem","ph":"C","pid":5,"tid":1,"ts":12,"args":{"used":3,"free":6}},
{"name":"id","ph":"C","pid":5,"id":"0x3","ts":11,"args":{"v":1}},{"name":"id","ph":"C","pid":5,"id":3,"ts":11,"args":{"v":2}}]
J
cat > instants.json <<'J'
[{"name":"g","ph":"i","s":"g","pid":5,"tid":1,"ts":3},{"name":"p","ph":"i","s":"p","pid":5,"tid":1,"ts":4},{"name":"t","ph":"i","s":"t","pid":5,"tid":1,"ts":5}]
J
cat > thread.json <<'J'
[{"name":"x","cat":"","ph":"X","pid":5,"tid":1,"ts":1,"dur":2,"tts":4.5,"tdur":0.25,"bind_id":"0x1f","flow_out":true,"args":{"a":[null,{},1],"u":18446744073709551615}},
{"name":"y","ph":"B","pid":5,"tid":1,"ts":4,"tts":7,"bind_id":"0x1f","flow_in":true,"args":{"c":1}},{"cat":"","ph":"E","pid":5,"tid":1,"ts":6,"tts":8.5,"args":{"c":null}}]
J
for name in async counter instants thread; do
  tracekit convert -q "$name.json" -o "$name.pftrace"
  for file in "$name.json" "$name.pftrace"; do
    echo "== $file"
    q $file "SELECT s.ts, s.dur, s.name, s.category, t.name AS track, t.type FROM slice s JOIN track t ON t.id = s.track_id ORDER BY 1"
    q $file "SELECT c.ts, c.value, t.name, t.type FROM counter c JOIN process_counter_track t ON t.id = c.track_id ORDER BY 3, 1"
    q $file "SELECT process_name IS NULL AS unnamed, pid, name, track_name FROM process_slice ORDER BY ts"
  done
done
for file in thread.json thread.pftrace; do
  q $file 'SELECT name, thread_ts, thread_dur FROM slice ORDER BY ts'
  q $file 'SELECT s.name, a.key, a.display_value, a.value_type FROM slice s JOIN args a USING (arg_set_id) ORDER BY s.ts, a.id'
  q $file 'SELECT a.name, b.name, trace_id FROM flow f JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in'
done
echo '== arrays of an end continue those of its begin'
cat > ends.json <<'J'
[{"ph":"B","pid":1,"tid":1,"ts":1,"name":"x","args":{"a":[1,[7],2],"d":{"k":[1]},"c":1}},{"ph":"E","pid":1,"tid":1,"ts":5,"args":{"a":[3,[8]],"d":{"k":[4]},"c":2}}]
J
q ends.json "SELECT key, display_value FROM args WHERE key LIKE 'args.%' ORDER BY 1"
echo '== the last value of a repeated key counts, and its arrays are continued'
cat > repeats.json <<'J'
[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"x","args":{"k":{"d":{"a":1},"d":0},"n":{"d":1,"d":2,"e":3,"d":4},"r":{"d":1,"d":null},"s":{"d":[1,2],"d":[3]}}}]
J
q repeats.json "SELECT key, display_value FROM args WHERE key LIKE 'args.%' ORDER BY 1"
echo '== differences that a query touches'
tracekit sql async.json -e 'SELECT count(*) FROM thread'
echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5},{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":5}]' > overlap.json
tracekit sql overlap.json -e 'SELECT count(*) FROM slice' -e 'SELECT count(*) FROM stats'
