# Samples without times in a folder with traces do not count as a separate rank, unless the user names their file.
mkdir run
for r in 0 1; do
  printf '{"schemaVersion":1,"distributedInfo":{"rank":%d,"world_size":2},"traceEvents":[
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":%d,"tid":1,"ts":1700000000000100,"dur":50}]}' $r $r > run/rank${r}_trace.json
  printf 'main;step 12\nmain;load 3\n' > run/rank${r}_stacks.txt
done
tracekit merge run -o merged.json --json | python3 -c 'import json, sys
print([(r["rank"], r["input"]) for r in json.load(sys.stdin)["ranks"]])'
tracekit extract run -o extracted.json
tracekit list run
tracekit info -q --json run/rank* | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["traces"]), "named files")'
mkdir only && cp run/*.txt only && tracekit info -q --json only | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["traces"]), "files of a folder without traces")'
