# A second shrink keeps the record of the events that the first one removed.
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
tracekit shrink -q t.json.gz --percent 60 -o a.json
tracekit shrink -q a.json --percent 60 -o b.json
python3 - <<'PY'
import json
total = lambda t: sum(int(row[4]) for row in t)
a, b = (json.load(open(f))['tracekit']['shrink'] for f in ('a.json', 'b.json'))
print(total(b['before'][0]['dropped']) == total(a['dropped']), len(b['before']))
PY
