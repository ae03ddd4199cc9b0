cp "$FIXTURES/json/viz/viz_small.json" t.json
cat t.json | tracekit filter -q --name '*sorted*' - -f json -o - | python3 -c '
import json, sys
print({e["name"] for e in json.load(sys.stdin)["traceEvents"] if e["ph"] == "X"})'
