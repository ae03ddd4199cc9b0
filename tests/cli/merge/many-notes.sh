# A note that applies to more than three inputs is printed once; -v prints it for each input, -q not at all.
for i in $(seq 10 73); do
  printf '{"distributedInfo":{"rank":%d},"traceEvents":[{"ph":"X","name":"a","pid":%d,"tid":1,"ts":%d,"dur":-2},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":2},]}' $i $i $i > rank$i.json
done
printf '[{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":-2}]' > odd.json
tracekit merge rank*.json --align=none -o all.json | tail -n 1 | cut -d , -f 1,2
tracekit merge rank1[01].json odd.json --align=none -o few.json | tail -n 1 | cut -d , -f 1,2
tracekit merge -v rank*.json --align=none -n -f json 2>&1 > /dev/null | grep -c 'repair: negative dur'
tracekit merge -q rank*.json --align=none -n -f json
