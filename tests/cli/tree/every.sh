# A loop without annotation, cut at each outermost event with a name; events before the first one and after the last one are left out.
{ printf '[{"ph":"X","name":"setup","pid":1,"tid":1,"ts":0,"dur":4}'
  for i in 0 1 2 3; do
    t=$((5 + 20 * i))
    printf ',{"ph":"X","name":"load","pid":1,"tid":1,"ts":%d,"dur":3},{"ph":"X","name":"load","pid":1,"tid":1,"ts":%d,"dur":1}' $t $((t + 1))
    printf ',{"ph":"X","name":"forward_%d","pid":1,"tid":1,"ts":%d,"dur":%d}' $i $((t + 4)) $((9 + i))
    printf ',{"ph":"X","name":"mm","pid":1,"tid":1,"ts":%d,"dur":2}' $((t + 6))
  done
  printf ']'; } > loop.json
tracekit tree loop.json --every load --fold
tracekit tree loop.json --every '/^l.a/' --fold --json --top 1
tracekit tree loop.json --every setup; echo "status $?"
tracekit tree loop.json --every load --per mm; echo "status $?"
tracekit tree loop.json --every load --step-name x; echo "status $?"
tracekit tree loop.json --every '/(/'; echo "status $?"
tracekit top loop.json --by step --csv --step-name 'every:load' --name mm
