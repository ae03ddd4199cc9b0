for run in monday tuesday; do mkdir $run; done
trace() { # RANK TS
  echo "{\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": $1}, \"traceEvents\": ["
  echo "{\"ph\": \"X\", \"name\": \"work\", \"pid\": $1, \"tid\": 1, \"ts\": $2, \"dur\": 10}]}"
}
for rank in 0 1; do
  trace $rank $((1000 + rank)) > monday/node7_1$rank.1.pt.trace.json
  trace $rank $((9000000 + rank)) > tuesday/node7_1$rank.2.pt.trace.json
done
tracekit merge monday/* tuesday/* --align=start -n -o merged.json
