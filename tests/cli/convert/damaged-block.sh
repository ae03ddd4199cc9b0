# A block of XPlane in JSON that cannot be read is lost, which is said once: what is written has nothing left to mend.
python3 -c 'import base64, json
block = base64.b64encode(bytes(range(1, 120))).decode()
json.dump({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}], "xplane": block, "perfetto": "word"}, open("a.json", "w"))'
tracekit convert --no-provenance a.json -o b.json
tracekit check -q b.json; echo "status $?"
tracekit convert --no-provenance b.json -o c.json && cmp b.json c.json && grep -c '"perfetto"' c.json
