cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert --json t.json -o out.json.gz > report.json
python3 - <<'PY'
import json
r = json.load(open('report.json'))
print(sorted(r))
print(r['input'], r['output'], r['dry_run'], r['read_records'] == r['written_records'], r['dropped'])
PY
