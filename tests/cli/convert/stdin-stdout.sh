cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit convert t.json -o a.json
tracekit convert < t.json > b.json
tracekit convert - -o - < t.json > c.json
cat t.json | tracekit convert | cat > d.json
cmp a.json b.json && cmp a.json c.json && cmp a.json d.json && ls
