# The parts of an XPlane file of a GPU, in the terms of this format. Memory figures depend on the machine and are not compared.
cp "$FIXTURES/xplane/synth/gpu.xplane.pb" t.xplane.pb
tracekit info t.xplane.pb
tracekit info -v t.xplane.pb | sed -n '/^  \(plane\|    \|clock\|packets\|bytes\)/p' | grep -v ' memory '
tracekit info --json t.xplane.pb | python3 -c '
import json, sys
t = json.load(sys.stdin)["traces"][0]
print(json.dumps({k: t.get(k) for k in ("steps", "xplane", "perfetto")}))
print(json.dumps(t["parts"]))
assert t["format"] != "xplane" or sum(p["bytes"] for p in t["parts"]) == t["bytes"]'
