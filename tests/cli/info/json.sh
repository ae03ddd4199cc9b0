cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit info --json t.json t.json > report.json
python3 - <<'PY'
import json
r = json.load(open('report.json'))
print(len(r['traces']))
t = r['traces'][0]
print(sorted(t))
print(t['input'], t['format'], t['events'], t['spans'] + t['instants'] + t['counter_samples'] == t['events'])
print(sum(t['records_by_phase'].values()) == t['read_records'])
PY
