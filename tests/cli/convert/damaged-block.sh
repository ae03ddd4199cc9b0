# An unreadable XPlane block in JSON is dropped and reported once: the output needs no further repair.
python3 -c 'import base64, json
block = base64.b64encode(bytes(range(1, 120))).decode()
json.dump({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}], "xplane": block, "perfetto": "word"}, open("a.json", "w"))'
tracekit convert --no-provenance a.json -o b.json
tracekit check -q b.json; echo "status $?"
tracekit convert --no-provenance b.json -o c.json && cmp b.json c.json && grep -c '"perfetto"' c.json
