# One log directory with several profilers, and other files in it.
. "$SRC/tests/support/rundirs.sh"
jax_run logs 2026_11_20_11_06_10
torch_handler logs
mkdir logs/old
cp "$FIXTURES"/json/torch/ddp2_plain/* logs/old
cp "$FIXTURES"/perfetto/small.pftrace.gz logs/old
echo hello > logs/old/README.txt
echo '{"lr": 0.1}' > logs/old/config.json
touch -d '2020-01-01' logs/old/*
tracekit list logs
tracekit list -a --run old logs
