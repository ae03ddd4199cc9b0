. "$SRC/tests/support/rundirs.sh"
jax_hosts logs 2026_11_20_12_00_00
tar --sort=name -cf - logs | gzip -n > logs.tgz
tracekit list logs.tgz
tracekit list logs.tgz:logs/plugins/profile/2026_11_20_12_00_00/host-1.xplane.pb
tracekit list "logs.tgz:*.json.gz"
