# Derived data of xprof: steps that group events, and lines of devices. XPlane output contains none of it.
lines() { python3 -c 'import collections, json, sys
events = json.load(sys.stdin)["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
for e in events:
    args = e.get("args", {})
    if args.get("tracekit.derived") is True or "step_name" in args:
        print(names[e["pid"], e["tid"]], e["name"], e["ts"], e["dur"], args.get("group_id"), args["tracekit.derived"], sep=" | ")'; }
tracekit convert -v --derive "$FIXTURES/xplane/synth/gpu.xplane.pb" -o gpu.json && lines < gpu.json
tracekit convert -v --derive "$FIXTURES/xplane/synth/tpu.xplane.pb" -o tpu.json && lines < tpu.json
for t in gpu tpu; do
  tracekit convert -q --no-provenance $t.json -o $t.xplane.pb; cmp $t.xplane.pb "$FIXTURES/xplane/synth/$t.xplane.pb" && echo $t is as it was
  tracekit convert -q --no-provenance --derive "$FIXTURES/xplane/synth/$t.xplane.pb" -o - -f xplane | cmp - "$FIXTURES/xplane/synth/$t.xplane.pb"
done
# Deriving again changes nothing, and neither does deriving a trace that is not XPlane.
tracekit convert -q --no-provenance gpu.json -o once.json && tracekit convert -q --no-provenance --derive gpu.json -o again.json && cmp once.json again.json
tracekit convert -q --derive "$FIXTURES/json/viz/viz_small.json" -o derived.json && tracekit convert -q "$FIXTURES/json/viz/viz_small.json" -o plain.json &&
  cmp plain.json derived.json
tracekit merge --derive "$FIXTURES"/xplane/multihost/*.pb -o merged.json --align=none | tail -n 1
