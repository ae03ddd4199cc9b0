# JAX marks steps by an arg, and annotations not at all: both kinds are recognised, in XPlane and in JSON and Perfetto made from
# it.
for ending in xplane.pb json pftrace; do
  tracekit convert -q "$FIXTURES/xplane/mlp_train/vm.xplane.pb" -o "t.$ending" || exit
  for kind in step annotation op transfer host device; do
    printf '%s %s: ' "$ending" "$kind"
    tracekit filter -q --kind $kind "t.$ending" -f json -o - | grep -c '"ph":"X"'
  done
done
tracekit info -q t.xplane.pb | grep kinds
