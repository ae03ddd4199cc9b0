# With -f xplane, runs are written to a folder where xprof and TensorBoard look for them.
mkdir -p logs/plugins/profile/run{1,2}
cp "$FIXTURES"/xplane/multihost/host-[01].xplane.pb logs/plugins/profile/run1
cp "$FIXTURES"/xplane/multihost/host-2.xplane.pb logs/plugins/profile/run2
tracekit extract -q --all logs -f xplane -o tb/ && (cd tb && find . -type f | sort)
cmp tb/plugins/profile/run2/host-2.xplane.pb logs/plugins/profile/run2/host-2.xplane.pb; echo "same but for provenance: $?"
tracekit extract -q --no-provenance --run run2 logs -f xplane -o same/
cmp same/plugins/profile/run2/host-2.xplane.pb logs/plugins/profile/run2/host-2.xplane.pb && echo same
tracekit extract logs --run run2 -f xplane -o tb/; echo "status $?"
