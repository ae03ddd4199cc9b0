cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge --json rank?.json.gz -o merged.json.gz > report.json
python3 - <<'PY'
import json
r = json.load(open('report.json'))
print(sorted(r))
for rank in r['ranks']:
    print(sorted(rank))
    print(rank['rank'], rank['rank_from'], rank['host'], rank['input'], rank['events'])
print(sum(rank['events'] for rank in r['ranks']) == r['written_events'])
PY
