# Files fetched from a bucket have %2F in their names instead of folders: two sessions of one host are two runs.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_10_00_00
mkdir flat
for run in 2026_11_20_10_00_00 2026_11_20_10_30_00; do
  cp logs/plugins/profile/2026_11_20_10_00_00/vm.xplane.pb "flat/logs%2Fplugins%2Fprofile%2F$run%2Fvm.xplane.pb"
done
tracekit list flat
tracekit extract flat
