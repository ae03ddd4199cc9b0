# The tables of a trace with items of every kind.
cat > t.json <<'J'
{"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"one"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker"}},
{"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":7}},
{"ph":"X","pid":1,"tid":1,"name":"outer","cat":"c","ts":1,"dur":9.5,"args":{"a":1,"b":[2,{"k":"v"}],"r":1.5,"t":true,"n":null}},
{"ph":"X","pid":1,"tid":1,"name":"inner","cat":"c","ts":2,"dur":3},
{"ph":"i","s":"t","pid":1,"tid":1,"name":"mark","ts":3},
{"ph":"B","pid":1,"tid":2,"name":"pair","ts":4,"args":{"x":1,"y":2}},
{"ph":"E","pid":1,"tid":2,"ts":6,"args":{"x":3}},
{"ph":"B","pid":1,"tid":2,"name":"never ends","ts":7},
{"ph":"i","s":"p","pid":1,"name":"of the process","ts":5},
{"ph":"X","pid":1,"tid":2,"ts":8,"dur":1},
{"ph":"b","pid":1,"tid":1,"id":5,"cat":"a","name":"async","ts":1},
{"ph":"e","pid":1,"tid":1,"id":5,"cat":"a","name":"async","ts":3},
{"ph":"s","pid":1,"tid":1,"id":1,"cat":"f","name":"arrow","ts":2},
{"ph":"f","bp":"e","pid":1,"tid":2,"id":1,"cat":"f","name":"arrow","ts":4.5},
{"ph":"C","pid":1,"name":"memory","ts":1,"args":{"used":1,"free":"2"}},
{"ph":"C","pid":1,"name":"memory","ts":2,"args":{"used":3}},
{"ph":"X","pid":"text","tid":"lane","name":"elsewhere","ts":0,"dur":1}
],"extra":{"a":1}}
J
for table in slice thread_slice process_slice thread process track thread_track process_track counter_track \
             process_counter_track counter args flow metadata trace_bounds machine instant event step; do
  echo "== $table"
  tracekit sql -q t.json --csv -e "SELECT * FROM $table"
done
echo '== parents of spans that an end cut off their parent'
tracekit sql -q "$FIXTURES/json/odd/cut.json" --csv -e "SELECT s.name, p.name AS parent FROM slice s LEFT JOIN slice p ON p.id = s.parent_id ORDER BY s.id"
