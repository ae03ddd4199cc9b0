# A file that is cut before its first event is an error, and is left out if other runs can be read.
mkdir -p log/plugins/profile/run1 log/plugins/profile/run2
head -c 40 "$FIXTURES/xplane/mlp_train/vm.xplane.pb" > log/plugins/profile/run1/vm.xplane.pb
cp "$FIXTURES/xplane/mlp_train/vm.xplane.pb" log/plugins/profile/run2/
"$TRACEKIT" extract log/plugins/profile/run1 -o one.json
echo "status $?"
"$TRACEKIT" extract log --all -o out/
echo "status $?"
ls . out
