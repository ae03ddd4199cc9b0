# A folder as output has the structure that xprof and TensorBoard open: a run in plugins/profile, with a file per host, or per
# rank if a host has several, all on one timeline.
logdir=$FIXTURES/xplane/multihost
mkdir two && cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz two
tracekit merge -q "$logdir"/*.xplane.pb -o hosts/ && (cd hosts && find . -type f | sort)
tracekit merge -q two/*.gz -o ranks/ && (cd ranks && find . -type f | sort)
# All times have a common origin, and equal those of a merge into one file.
events() { python3 -c 'import json, sys
for e in json.load(sys.stdin)["traceEvents"]:
    if e["ph"] == "X": print(e["ts"], e["dur"], e["name"])' | sort; }
tracekit merge -q "$logdir"/*.xplane.pb -o - -f json | events > one
for f in hosts/plugins/profile/*/*; do tracekit convert -q "$f" -f json; done | python3 -c 'import json, sys
d = json.JSONDecoder(); text = sys.stdin.read(); zeros = set()
while text.strip():
    trace, end = d.raw_decode(text.strip()); text = text.strip()[end:]
    zeros.add(trace["baseTimeNanoseconds"])
    for e in trace["traceEvents"]:
        if e["ph"] == "X": print(e["ts"], e["dur"], e["name"])
print(len(zeros), "zero of time", file=sys.stderr)' | sort | cmp - one && echo same times
# Each file has the processes and ids of its rank.
pids() { python3 -c 'import json, sys; print(sorted({str(e["pid"]) for e in json.load(sys.stdin)["traceEvents"]}))'; }
for f in two/rank1.json.gz ranks/plugins/profile/*/*rank1.xplane.pb; do tracekit convert -q "$f" -f json | pids; done | uniq -c | wc -l
# Existing files are kept.
tracekit merge -q two/*.gz -o ranks/; echo "status $?"
tracekit merge -q --force two/*.gz -o ranks/; echo "status $?"
# A failed merge leaves nothing behind, and a dry run writes nothing.
head -c 4000 two/rank1.json.gz > two/rank2.json.gz
tracekit merge -q two/*.gz -o none/ 2> /dev/null; echo "status $?"
tracekit merge -q -n two/rank[01].json.gz -o none/; ls
tracekit merge two/rank[01].json.gz -f json -o x/; echo "status $?"
tracekit merge -q two/rank[01].json.gz -o a/plugins/profile/run/ && find a -type f | sort
