# All kinds of input: files of one job, a folder, an archive, standard input; the sums equal the sums over the parts.
count() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["events"], len(d["rows"]), d["sum_ns"])'; }
D="$FIXTURES/json/torch/ddp2_plain"
cp "$D/rank0.json.gz" "$D/rank1.json.gz" .
tracekit top -q --json rank0.json.gz | count
tracekit top -q --json rank1.json.gz | count
tracekit top -q --json rank0.json.gz rank1.json.gz | count
tracekit top -q rank0.json.gz rank1.json.gz --by rank
tracekit top -q rank0.json.gz rank1.json.gz --by rank --rank 1 --time 10%.. | wc -l | tr -d ' '
mkdir folder && cp rank?.json.gz folder && tracekit top -q --json folder | count
tar cf r.tar rank0.json.gz rank1.json.gz && tracekit top -q --json r.tar | count
tracekit top -q --json < rank0.json.gz | count
for f in pftrace xplane.pb; do tracekit convert -q rank0.json.gz -o "t.$f" && tracekit top -q --json "t.$f" | count; done
