# Missing parts, truncated parts and parts of another plan are reported; --keep-going joins the others.
for r in 0 1; do cp "$FIXTURES/json/torch/ddp2_plain/rank$r.json.gz" .; done
tracekit scan -q rank0.json.gz rank1.json.gz -o all.scan
tracekit plan -q all.scan -o plan.json
for r in 0 1; do tracekit apply -q plan.json rank$r.json.gz -o rank$r.part; done
tracekit concat plan.json rank0.part -o merged.json; echo $?
tracekit concat plan.json rank0.part -k --json -o merged.json; echo $?
head -c 1000 rank1.part > cut.part
tracekit concat plan.json rank0.part cut.part -o cut.json; echo $?
tracekit concat plan.json rank0.part cut.part -kq -o cut.json; echo $?
cmp merged.json cut.json && echo the same
tracekit plan -q all.scan --to-zero -o other.json
tracekit concat other.json rank0.part rank1.part -o other.out.json; echo $?
cp rank1.part again.part
tracekit concat plan.json rank0.part rank1.part again.part -o all.json; echo $?
tracekit concat plan.json rank0.part rank1.part -o all.pftrace; echo $?
ls
