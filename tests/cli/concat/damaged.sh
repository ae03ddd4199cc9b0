# A damaged copy of a part is left out, whatever the order; --keep-going also leaves out ranks without an undamaged part.
for r in 0 1; do cp "$FIXTURES/json/torch/ddp2_plain/rank$r.json.gz" .; done
tracekit scan -q rank0.json.gz rank1.json.gz -o all.scan
tracekit plan -q all.scan -o plan.json
for r in 0 1; do tracekit apply -q plan.json rank$r.json.gz -o rank$r.part; done
tracekit concat -q plan.json rank0.part rank1.part -o whole.json
flip() { # FILE BYTE OUTPUT
  head -c $2 "$1" > "$3"
  printf Z >> "$3"
  tail -c +$(($2 + 2)) "$1" >> "$3"
  cmp -s "$1" "$3" && echo 'not damaged'
}
flip rank1.part 300 bytes.part
head -c 1000 rank1.part > end.part
for copies in 'bytes.part rank1.part' 'rank1.part bytes.part' 'end.part rank1.part' 'rank1.part end.part'; do
  tracekit concat --force plan.json rank0.part $copies -o out.json; echo $?
  cmp out.json whole.json && echo whole
done
tracekit concat --force plan.json rank0.part bytes.part -o none.json; echo $?
tracekit concat --force -k plan.json rank0.part bytes.part -o one.json; echo $?
ls
