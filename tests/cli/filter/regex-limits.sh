python3 -c 'import json; json.dump([{"ph": "X", "name": "a" * 200 + c, "pid": 1, "tid": 1, "ts": i, "dur": 1} for i, c in enumerate("cd")], open("t.json", "w"))'
for regex in '(a+)+[bx]$' 'a{1,255}{1,255}' '(a'; do
  tracekit filter t.json --regex "$regex" -o out.json || echo "status $?"
done
tracekit shrink t.json --keep 'name =~ "(a|aa)+[bx]$"' --to 1KB -o out.json || echo "status $?"
tracekit filter t.json --regex 'a+[cd]$' -o out.json
ls
