# --latest-good skips runs whose files end early, whatever their format; if the files of all runs do, it repairs the newest run.
run=plugins/profile host=$FIXTURES/xplane/multihost/host-0.xplane.pb
mkdir -p logs/$run/2026_11_2{0,1,2,3}_12_00_00
cp "$host" logs/$run/2026_11_20_12_00_00/vm.xplane.pb
head -c 3000 "$host" > logs/$run/2026_11_21_12_00_00/vm.xplane.pb
tracekit convert -q "$host" -o whole.json && tracekit convert -q "$host" -o whole.pftrace
head -c 3000 whole.json > logs/$run/2026_11_22_12_00_00/rank0.json
gzip -c whole.pftrace | head -c 2000 > logs/$run/2026_11_23_12_00_00/rank0.pftrace.gz
tracekit extract logs --latest-good -o good.json 2>&1 | grep -o 'from .*\|[0-9] newer.*'
tar czf logs.tgz logs && tracekit extract logs.tgz --latest-good -o good.json --force 2>&1 | grep -o 'from .*\|[0-9] newer.*'
# A complete view of the same host replaces one that ends early.
cp whole.json logs/$run/2026_11_21_12_00_00/vm.trace.json
tracekit extract logs --latest-good -o good.json --force 2>&1 | grep -o 'from .*\|vm.xplane.pb is not usable.*'
rm -r logs/$run/2026_11_2{0,1,3}_12_00_00
tracekit extract logs --latest-good -o good.json --force 2>&1 | grep -o 'from .*\|no run.*\|truncated.*'
# Other text may begin like JSON: folded stacks with the frame "[unknown]".
rm -r logs/$run/*/*
printf '[unknown];main 5\n' > logs/$run/2026_11_22_12_00_00/rank0.folded
tracekit extract logs --latest-good -o good.json --force 2>&1 | grep -o 'from .*\|no run.*'
