# Reports on a device with steps, a TPU, a job of several ranks, selected copies and an empty trace; missing data is reported.
cp "$FIXTURES/perfetto/small.pftrace.gz" gpu.pftrace.gz
cp "$FIXTURES/xplane/synth/tpu.xplane.pb" .
tracekit report -q gpu.pftrace.gz --top 2 --step 10 | cut -c1-100
tracekit report -q tpu.xplane.pb | grep -A3 '^Devices'
tracekit report -q "$FIXTURES/json/torch/ddp2_handler" | grep -v '^[0-9].* inputs'
tracekit report -q gpu.pftrace.gz --kind memcpy | grep -A4 '^Devices'
printf '{"traceEvents":[]}' | tracekit report -q -
# A narrow terminal shows fewer columns.
COLUMNS=72 tracekit report -q gpu.pftrace.gz --top 1 | awk 'length > 72 && !/[:;]/ || /^[0-9.]+ .s/ || /device$/'
COLUMNS=48 tracekit diff -q gpu.pftrace.gz gpu.pftrace.gz --top 1
