# A number in an expression equals the double in the trace, to the last bit.
echo '[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":1,"name":"a","args":{"x":1e-7}},{"ph":"X","pid":1,"tid":7,"ts":5,"dur":1,"name":"b","args":{"x":2.5}}]' > t.json
tracekit convert -q t.json -o t.pftrace
for test in '== 1e-7' '!= 1e-7' '< 1e-7' '<= 1e-7' '== 2.5'; do
  echo "x $test: $(tracekit filter -q t.pftrace -e "arg.x $test" -f json -o - | grep -oE '"name":"[ab]"' | tr '\n' ' ')"
done
