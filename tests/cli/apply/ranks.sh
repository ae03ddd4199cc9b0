# Each rank becomes a part, and joining the parts gives the same file as merge; an option can name the rank of an input.
for r in 0 1; do cp "$FIXTURES/json/torch/ddp2_plain/rank$r.json.gz" .; done
tracekit scan -q rank0.json.gz rank1.json.gz -o all.scan
tracekit plan -q all.scan -f pftrace.gz --every-rank 1 -o plan.json
tracekit apply plan.json rank0.json.gz -o rank0.part
cp rank1.json.gz x.json.gz
tracekit apply plan.json x.json.gz --input rank1.json.gz --json -o rank1.part
tracekit concat plan.json rank1.part rank0.part -o merged.pftrace.gz
tracekit merge -q rank0.json.gz rank1.json.gz -o want.pftrace.gz && cmp want.pftrace.gz merged.pftrace.gz && echo the same
tracekit apply plan.json rank0.json.gz -o rank0.part; echo $?
tracekit apply rank0.json.gz rank0.json.gz -o x.part; echo $?
cp "$FIXTURES/json/viz/viz_small.json" viz.json; tracekit apply plan.json viz.json -o x.part; echo $?
tracekit plan -q all.scan --rank 1 -o one.json
tracekit apply one.json rank0.json.gz -o x.part; echo $?
tracekit plan all.scan -f speedscope -o x.json; echo $?
ls
