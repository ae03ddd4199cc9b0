# Selecting ranks of a merged trace, whatever its pids are: numbers, numeric strings, strings with a quote; two ranks have the
# same pids.
for rank in 0 1; do
  printf '{"traceEvents":[{"ph":"X","pid":0,"tid":1,"ts":1,"dur":2,"name":"number %s"},{"ph":"X","pid":"7","tid":1,"ts":2,"dur":2,
"name":"digits %s"},{"ph":"X","pid":"a\\"b","tid":1,"ts":3,"dur":2,"name":"quote %s"}],"distributedInfo":{"rank":%s}}' \
    $rank $rank $rank $rank > rank$rank.json
done
tracekit merge -q rank0.json rank1.json -o m.json
for rank in 0 1; do
  tracekit filter -q m.json --rank $rank -f json | grep -o '"name":"[a-z]* [01]"'
done
tracekit size m.json --json | python3 -c 'import json, sys; print([(r["rank"], r["events"]) for r in json.load(sys.stdin)["ranks"]])'
tracekit info -v m.json | grep process
tracekit split m.json --by rank -o 'r.{}.json' | sed 's/, [0-9.]* K*B$//'
