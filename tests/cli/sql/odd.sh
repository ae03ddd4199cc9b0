# For odd traces, the rows are those of trace_processor; where they differ, a note says so.
q() { tracekit sql t.json --csv -e "$1" 2>&1; }
FLOWS="SELECT a.name AS source, b.name AS target FROM flow f JOIN slice a ON a.id = f.slice_out JOIN slice b ON b.id = f.slice_in"
SLICES="SELECT ts, dur, name, depth FROM slice"
BELOW="SELECT s.name, group_concat(d.name) AS below FROM slice s LEFT JOIN descendant_slice(s.id) d GROUP BY s.id"

echo '== every event with a tid has a thread, except for profiles without samples or begin'
cat > t.json <<'J'
[{"ph":"M","name":"process_name","pid":5,"tid":7,"args":{"name":"P"}},{"args":{"uptime":4},"ph":"M","name":"uptime","pid":5,"tid":8,"ts":0},
{"ph":"P","name":"ProfileChunk","id":"0x2","pid":5,"tid":12,"ts":2,"args":{"data":{"timeDeltas":[5],
"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}}],"samples":[1]}}}},
{"ph":"N","name":"o","id":"1","pid":6,"tid":9,"ts":1},{"ph":"P","name":"Profile","id":"0x1","pid":5,"tid":10,"ts":1,"args":{"data":{"startTime":1}}},
{"ph":"P","name":"ProfileChunk","id":"0x1","pid":5,"tid":11,"ts":2,"args":{"data":{"timeDeltas":[5],
"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}}],"samples":[1]}}}},
{"ph":"X","name":"a","pid":5,"tid":5,"ts":1,"dur":1}]
J
q "SELECT tid, pid FROM thread JOIN process USING (upid) ORDER BY 2, 1"
q "SELECT count(*) AS n FROM trace_bounds"

echo '== times of threads'
cat > t.json <<'J'
[{"ph":"X","name":"no tts","pid":5,"tid":5,"ts":1,"dur":3,"tdur":2},{"ph":"X","name":"no tdur","pid":5,"tid":5,"ts":11,"dur":3,"tts":2},
{"ph":"i","s":"p","name":"of the process","pid":5,"tid":5,"ts":4,"tts":7},{"ph":"b","name":"async","id":3,"pid":5,"tid":5,"ts":5,"tts":7}]
J
q "SELECT name, thread_ts, thread_dur FROM slice ORDER BY ts"

echo '== descendants, and what flows from them: also those that begin at the end'
cat > t.json <<'J'
[{"ph":"X","name":"first","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","name":"second","pid":1,"tid":1,"ts":3,"dur":9},
{"ph":"X","name":"inner","pid":1,"tid":1,"ts":3,"dur":5},{"ph":"X","name":"innermost","pid":1,"tid":1,"ts":4,"dur":1},
{"ph":"s","name":"f","cat":"c","id":1,"pid":1,"tid":1,"ts":4},{"ph":"X","name":"target","pid":1,"tid":2,"ts":6,"dur":1},
{"ph":"f","bp":"e","name":"f","cat":"c","id":1,"pid":1,"tid":2,"ts":6}]
J
q "$BELOW"
q "SELECT name, (SELECT count(*) FROM following_flow(s.id)) AS behind FROM slice s"

echo '== a point of a flow belongs to the last slice that began, until the next event'
cat > t.json <<'J'
[{"name":"around","ph":"X","ts":10,"dur":90,"pid":1,"tid":1},{"name":"done","ph":"X","ts":11,"dur":2,"pid":1,"tid":1},
{"name":"source","ph":"X","ts":1,"dur":4,"pid":1,"tid":2},{"name":"f","cat":"c","ph":"s","ts":2,"pid":1,"tid":2,"id":2},
{"name":"f","cat":"c","ph":"t","ts":50,"pid":1,"tid":1,"id":2},
{"name":"g","cat":"c","ph":"s","ts":2,"pid":1,"tid":2,"id":3},{"name":"g","cat":"c","ph":"f","ts":200,"pid":1,"tid":3,"id":3},
{"name":"same time","ph":"X","ts":200,"dur":2,"pid":1,"tid":3},{"name":"next","ph":"X","ts":205,"dur":2,"pid":1,"tid":3}]
J
q "$FLOWS"

echo '== notes: tdur, an end before its begin, a span without an end, threads that are one'
echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"tdur":3}]' > t.json
q "$SLICES"
echo '[{"ph":"E","name":"a","pid":1,"tid":1,"ts":1},{"ph":"B","name":"a","pid":1,"tid":1,"ts":1}]' > t.json
q "$SLICES"
cat > t.json <<'J'
[{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"B","name":"b","pid":1,"tid":1,"ts":2},{"ph":"E","name":"a","pid":1,"tid":1,"ts":9}]
J
q "$SLICES"
cat > t.json <<'J'
[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":9},{"ph":"B","name":"b","pid":1,"tid":1,"ts":2},{"ph":"X","name":"c","pid":1,"tid":1,"ts":20,"dur":1}]
J
q "$SLICES"
echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":9},{"ph":"X","name":"b","pid":1,"tid":0,"ts":2,"dur":1}]' > t.json
q "$SLICES"
echo '== no note: a trace whose first event is not the earliest'
echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":9,"dur":1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1}]' > t.json
q "$SLICES"

echo '== XPlane: spans that never end contain those that follow'
echo '[{"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"B","name":"b","pid":1,"tid":1,"ts":1},{"ph":"B","name":"c","pid":1,"tid":1,"ts":2}]' > t.json
tracekit convert -q t.json -o t.xplane.pb
tracekit sql -q t.xplane.pb --csv -e "$SLICES"

echo '== Perfetto: a track of a thread that viewers must not merge with the thread'
printf '\012\024\100\001\120\001\310\002\001\342\003\012\010\001\042\004\010\001\020\001\110\001' > t.pftrace
printf '\012\031\100\013\120\001\132\023\110\001\130\001\262\001\003cat\272\001\006slice1' >> t.pftrace
printf '\012\021\100\363\007\120\001\132\012\110\002\130\001\262\001\003cat' >> t.pftrace
tracekit sql -q t.pftrace --csv -e "SELECT type, source_arg_set_id IS NULL AS no_source FROM thread_track"
