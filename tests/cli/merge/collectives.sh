rank() { # RANK LATE...: three collectives that end together; LATE is how late this rank reaches each
  local i=0 ts comma=
  echo "{\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": $1, \"world_size\": 2}, \"traceEvents\": ["
  for late in "${@:2}"; do
    i=$((i + 1)) ts=$((i * 1000 + late))
    echo "$comma{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": $1, \"tid\": 7, \"ts\": $ts,"
    echo " \"dur\": $((200 - late)), \"args\": {\"Collective name\": \"allreduce\", \"In msg nelems\": 256, \"dtype\": \"Float\", \"Seq\": $i,"
    echo " \"Process Group Name\": \"0\", \"Process Group Description\": \"dp, all\", \"Process Group Ranks\": \"[0, 1]\"}}"
    comma=,
  done
  echo ']}'
}
rank 0 0 50 0 > rank0.json
rank 1 100 0 20 > rank1.json
tracekit merge rank?.json -o merged.json --collectives table.csv --link-collectives
cat table.csv
tracekit merge rank?.json -n -o other.json --collectives table.json -q
cat table.json
grep -c 'waited for' merged.json
tracekit merge rank?.json -n -o other.json --collectives table.xml
