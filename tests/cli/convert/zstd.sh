# A further extension .zst compresses: one frame, the same bytes for any number of threads, read back as the same trace.
cp "$FIXTURES/json/viz/viz_small.json" t.json
for name in t.json t.pftrace t.xplane.pb; do
  tracekit convert -q t.json --force -j1 -o one.$name.zst
  tracekit convert -q t.json --force -j2 -o two.$name.zst
  cmp one.$name.zst two.$name.zst
  tracekit convert -q t.json --force -o plain.$name
  head -c 4 one.$name.zst | od -An -tx1
  cmp <(tracekit dump --graph -q one.$name.zst) <(tracekit dump --graph -q plain.$name) && echo same
done
tracekit convert -q --level 9 t.json -o best.json.zst
[ "$(stat -c %s best.json.zst)" -le "$(stat -c %s one.t.json.zst)" ] && echo smaller
tracekit convert -q t.json -f json -o full.json.xz
echo "status $?"
ls | grep -c xz
