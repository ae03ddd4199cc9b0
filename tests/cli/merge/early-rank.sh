# If a rank began before the first input, the time base shifts: viewers would drop events with negative times.
rank() { echo "{\"distributedInfo\":{\"rank\":$1},\"baseTimeNanoseconds\":$2,\"traceEvents\":[{\"ph\":\"X\",\"name\":\"$1\",\"pid\":1,\"tid\":1,\"ts\":$3,\"dur\":5}]}"; }
rank 0 1789000000000000000 0.25 > rank0.json
rank 1 1788999999000000000 0.5 > rank1.json
for how in auto clock; do
  "$TRACEKIT" merge -q rank0.json rank1.json --align=$how --no-provenance -f json -o - 2>/dev/null | grep -E 'baseTime|"ph":"X"'
done
echo 'to zero'
"$TRACEKIT" merge -q rank0.json rank1.json --to-zero --no-provenance -f json -o - 2>/dev/null | grep -E 'baseTime|"ph":"X"'
