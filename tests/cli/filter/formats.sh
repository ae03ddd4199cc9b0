# Filters traces of two formats into every format.
cp "$FIXTURES/xplane/mlp_train/vm.xplane.pb" t.xplane.pb
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" t.json.gz
for to in json json.gz pftrace xplane.pb; do
  tracekit filter -q t.xplane.pb --depth 0..1 -o a.$to && tracekit filter -q t.json.gz --depth 0..1 --time 10%..90% -o b.$to
  tracekit check a.$to b.$to
done
