# Progress as JSON lines; without a terminal no progress is shown, unless requested.
for rank in 0 1; do cp "$FIXTURES/json/torch/ddp2_plain/rank$rank.json.gz" .; done
tracekit merge rank0.json.gz rank1.json.gz -o m.json.gz --progress=json 2> lines > /dev/null
python3 -c '
import json
seen = []
for line in open("lines"):
    said = json.loads(line)
    phase = (said["phase"], said.get("name", ""), said.get("index", 0), said.get("of", 0), said["unit"])
    if phase not in seen:
        seen.append(phase)
print(*[f"{p[0]} {p[1]} {p[2]}/{p[3]} {p[4]}" for p in seen], sep="\n")'
tracekit merge rank0.json.gz rank1.json.gz -o n.json.gz > /dev/null
tracekit filter rank0.json.gz --min-dur 1us -o f.json --progress=json 2>&1 > /dev/null | grep -o '"phase": "[a-z]*"' | uniq
tracekit convert rank0.json.gz -o g.json --progress=yaml
tracekit convert rank0.json.gz -o g.json --no-progress=json
