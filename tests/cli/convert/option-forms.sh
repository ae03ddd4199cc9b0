# All spellings of the same options, with operands at any position.
cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert t.json -o 1.json.gz --level 9 -j2
tracekit convert -o2.json.gz t.json --level=9 --threads=1
tracekit convert --output=3.json.gz -qj1 --level 9 -- t.json
tracekit convert --output 4.json.gz --strict --no-strict --no-progress --level=1 --level=9 t.json
cmp 1.json.gz 2.json.gz && cmp 1.json.gz 3.json.gz && cmp 1.json.gz 4.json.gz && ls
