# Selects by numbers and names of processes and threads, and by ranges. An error about an invalid value names the option.
printf '[{"ph":"X","pid":1,"tid":"PyTorch Profiler","ts":1,"dur":2,"name":"a"},{"ph":"X","pid":"007","tid":7,"ts":5,"dur":20,"name":"b"},
{"ph":"X","pid":3,"tid":"a\\"b\\\\","ts":9,"dur":2,"name":"c"},{"ph":"X","pid":4,"tid":9,"ts":1,"dur":30,"name":"ProfilerStep#1"},
{"ph":"X","pid":4,"tid":9,"ts":31,"dur":30,"name":"ProfilerStep#2"},{"ph":"X","pid":4,"tid":9,"ts":61,"dur":30,"name":"ProfilerStep#3"}]' > t.json
kept() { tracekit filter -q t.json -f json "$@" 2>&1 | grep -o '"name":"[^"]*"\|^tracekit: .*' | tr '\n' ' '; echo "${PIPESTATUS[0]}"; }
kept --tid 'PyTorch Profiler'
kept --tid 'a"b\'
kept --pid 007
kept --pid 7
kept --tid 7..9
kept --pid ..3
kept --tid 7 --tid 'PyTorch Profiler'
kept --min-dur 20us --max-dur 0.00002s
kept --step 2..
kept --step ..2
kept --step 2..2
for wrong in '--min-dur=1s || dur > 0us' '--max-dur=10' '--pid=..' '--pid=5..3' '--tid=1..x' '--tid=' '--rank=x' '--depth=1.5' '--step=..' '--step=2..1' \
    "--tid=$(printf '1%.0s' $(seq 70)).." '--time=1..x' '--rank=1 || rank == 2'; do
  kept "$wrong"
done

# An invalid expression is refused before anything is read.
tracekit filter missing.json -e 'dur >' -o out.json; echo "status $?"
tracekit filter missing.json --keep x -o out.json; echo "status $?"
