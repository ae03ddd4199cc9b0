cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" rank0.json.gz
cp "$FIXTURES/json/torch/ddp2_plain/rank1.json.gz" rank1.json.gz
tracekit merge -q rank0.json.gz rank1.json.gz -o all.json.gz
tracekit split -q all.json.gz --by rank -o 'r.{}.json.gz' && tracekit check r.*.json.gz
tracekit split -q all.json.gz --by process -o 'p.{}.json' && ls p.*
tracekit split -q rank0.json.gz --by size --every 100K -o 's.{}.json'
find . -name 's.*' -size +100k; ls s.* | wc -l | tr -d ' '
tracekit split all.json.gz --by rank -o 'r.{}.json.gz'; echo "status $?"
tracekit split all.json.gz --by rank -o r.json.gz; echo "status $?"
tracekit split all.json.gz --by size --every 10 -o 't.{}.json'; echo "status $?"
tracekit split all.json.gz -o 't.{}.json'; echo "status $?"
ls t.* 2> /dev/null
printf '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"launch"},{"ph":"s","pid":1,"tid":1,"ts":2,"id":1,"cat":"c","name":"f"},
{"ph":"X","pid":2,"tid":1,"ts":5,"dur":2,"name":"kernel"},{"ph":"f","bp":"e","pid":2,"tid":1,"ts":5,"id":1,"cat":"c","name":"f"}]' > arrow.json
tracekit split arrow.json --by process -o 'a.{}.json'
tracekit split arrow.json --by time --every 1us -o 'w.{}.json' --dry-run
