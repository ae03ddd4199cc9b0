. "$SRC/tests/support/rundirs.sh"
jax_hosts logs 2026_11_20_12_00_00
tar --sort=name -cf logs.tar logs
tracekit extract --raw logs.tar -o out/
tracekit extract --raw --host host-1 logs.tar -o one.pb
for h in 0 1 2; do cmp "logs/plugins/profile/2026_11_20_12_00_00/host-$h.xplane.pb" out/2026_11_20_12_00_00.host-$h.xplane.pb; done
cmp one.pb logs/plugins/profile/2026_11_20_12_00_00/host-1.xplane.pb
tracekit extract --raw logs -o file.pb; echo "status $?"
tracekit extract --raw --dry-run --host host-1 logs
ls
