# If only the name of the input states the rank, the rank is recorded in the output, unless the name of the output states it, too.
for rank in 2 3; do
  printf '{"schemaVersion":1,"traceEvents":[{"ph":"X","name":"a%s","cat":"cpu_op","ts":1,"dur":5,"pid":%s,"tid":1}]}' $rank $rank > rank_$rank.json
done
rank() { "$TRACEKIT" info --json "$1" | grep '"rank"' || echo "$1: no rank"; }
for output in x.json x.pftrace x.xplane.pb; do
  "$TRACEKIT" convert -q rank_3.json -o $output
  rank $output
  "$TRACEKIT" filter -q $output -o again.json --force
  rank again.json
done
"$TRACEKIT" convert -q --no-provenance rank_3.json -o none.json
rank none.json
"$TRACEKIT" convert -q rank_3.json -o other_rank3.json
grep -c '"rank"' other_rank3.json
mkdir run
for rank in 2 3; do "$TRACEKIT" convert -q rank_$rank.json -o run/f$((9 - rank)).json; done
"$TRACEKIT" report -q --json run | grep '"rank"' | sort -u
