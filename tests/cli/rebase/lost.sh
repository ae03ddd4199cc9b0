# Events without a valid clock get a time, too. Rounding must not make this time negative, because Perfetto would drop the
# event.
json() { printf '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1587074269993629993629,"dur":5}%s]' "$1"; }
json > each.json
json ',{"ph":"X","name":"b","pid":1,"tid":1,"ts":310,"dur":5},{"ph":"X","name":"c","pid":1,"tid":1,"ts":320,"dur":5}' > some.json
for shift in -8641969ps -1ps -100us -1ms; do
  for trace in some each; do
    tracekit rebase -q --shift=$shift $trace.json -o $trace.pftrace --force
    echo "$trace by $shift: $(tracekit convert -q $trace.pftrace -f json -o - | grep -oE '"name":"[abc]"' | sort | tr '\n' ' ')"
  done
done
