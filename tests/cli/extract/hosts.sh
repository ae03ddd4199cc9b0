# All hosts of a run on one timeline; with --split, one file per host; a single host.
. "$SRC/tests/support/rundirs.sh"
jax_hosts logs 2026_11_20_12_00_00
tracekit extract logs
tracekit extract --split logs
tracekit extract --host 'host-[12]' logs -o two.pftrace
tracekit extract --host host-9 logs; echo "status $?"
ls
tracekit info 2026_11_20_12_00_00.json.gz two.pftrace | grep events
