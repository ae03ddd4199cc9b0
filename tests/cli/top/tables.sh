# A table fits the terminal width, and reports what it does not show.
T="$FIXTURES/json/torch/ddp2_plain/rank0.json.gz"
tracekit top "$T" --top 5
COLUMNS=80 tracekit top "$T" --top 3
COLUMNS=40 tracekit top "$T" --top 2
tracekit top "$T" --by kind --sort count
tracekit top "$T" --by cat --sort name
tracekit top "$T" --by track --top 2
tracekit top "$T" --by process
tracekit top "$T" --by rank
tracekit top "$FIXTURES/xplane/mlp_train/vm.xplane.pb" --by step
tracekit top "$FIXTURES/perfetto/small.pftrace.gz" --by stream
tracekit top "$T" --by 'arg.Sequence number' --top 3
tracekit top "$T" --name 'aten::mm' --name 'aten::add*' --time 25%..75%
tracekit top "$T" --name nothing 2> /dev/null
