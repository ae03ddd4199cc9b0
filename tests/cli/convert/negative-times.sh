# Perfetto has no negative times: all timestamps are shifted, and shifted back on conversion to another format; so is a time
# that is only a fraction of a nanosecond below zero.
cat > in.json <<'J'
[{"ph":"X","name":"early","pid":1,"tid":2,"ts":-33000,"dur":5},{"ph":"X","name":"late","pid":1,"tid":2,"ts":2.5,"dur":3}]
J
sed 's/-33000/-0.0004/' in.json > tiny.json
for name in in tiny; do
  tracekit convert -q $name.json -o $name.pftrace
  tracekit convert -q $name.pftrace -o again.pftrace --force
  cmp $name.pftrace again.pftrace
  tracekit convert -q again.pftrace -o $name.xplane.pb
  for file in $name.pftrace $name.xplane.pb; do tracekit convert -q $file --no-provenance -f json -o - | grep '"X"'; done
done
tracekit rebase -q in.pftrace --to-zero -f json -o - | grep '"X"'
tracekit info in.pftrace | grep -E 'time|start'
