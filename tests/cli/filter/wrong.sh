# An error in an expression shows the column, the expected token, and similar names; nothing is written.
cp "$FIXTURES/json/viz/viz_small.json" t.json
for e in 'nmae == x' 'dur > 10' 'name =~ "("' '(depth < 3' 'kind == kernels' 'arg.x ==' 'name == "x'; do
  tracekit filter t.json -e "$e" -o out.json; echo "status $?"
done
tracekit filter t.json --keep parnets -o out.json; echo "status $?"
tracekit filter t.json --time 5..2 -o out.json; echo "status $?"
tracekit filter t.json --step 3 -o out.json; echo "status $?"
ls
