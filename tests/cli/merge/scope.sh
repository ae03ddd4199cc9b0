# A merge keeps the scope of instants: a global instant of an input is global in the output, also if there is only one input.
for i in 0 1; do
  echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5},{"ph":"i","s":"g","name":"b","pid":1,"tid":1,"ts":2}]' > r$i.json
done
tracekit merge -q --no-provenance r0.json r1.json -f json -o - | grep '"b"'
tracekit merge -q --no-provenance r0.json -f json -o - | grep '"b"'
