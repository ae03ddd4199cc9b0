# The parts of a Perfetto file, in the terms of this format. Memory figures depend on the machine and are not compared.
cp "$FIXTURES/perfetto/two_hosts.pftrace.gz" t.pftrace.gz
tracekit info t.pftrace.gz
tracekit info -v t.pftrace.gz | sed -n '/^  \(plane\|    \|clock\|packets\|bytes\)/p' | grep -v ' memory '
tracekit info --json t.pftrace.gz | python3 -c '
import json, sys
t = json.load(sys.stdin)["traces"][0]
print(json.dumps({k: t.get(k) for k in ("steps", "xplane", "perfetto")}))
print(json.dumps(t["parts"]))
assert t["format"] != "xplane" or sum(p["bytes"] for p in t["parts"]) == t["bytes"]'
