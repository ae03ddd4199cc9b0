# Call paths over all threads and repetitions; --per, with means per call; --by, with a level above the names.
T="$FIXTURES/json/torch/ddp2_plain/rank0.json.gz"
tracekit tree "$T" --kind annotation
tracekit tree "$T" --kind annotation --per train_step --top 5
COLUMNS=70 tracekit tree "$T" --name 'aten::*' --time 25%..75% --top 8
tracekit tree "$FIXTURES/json/torch/ddp2_plain" --by rank --name train_step --name forward
tracekit tree "$FIXTURES/perfetto/small.pftrace.gz" --fold --top 6 --by stream
tracekit tree "$FIXTURES/xplane/mlp_train/vm.xplane.pb" --top 6
tracekit tree "$T" --per nothing 2>&1 | grep -o "nothing matched.*"
