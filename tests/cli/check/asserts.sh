# Assertions that pass, that fail, that cannot be evaluated, and that are invalid.
cp "$FIXTURES/perfetto/small.pftrace.gz" gpu.pftrace.gz
tracekit check gpu.pftrace.gz --assert 'gpu_busy > 80%' --assert 'device_busy_percent < 80%' --assert 'mean(step) < 150ms'; echo "status $?"
tracekit check gpu.pftrace.gz --assert 'bytes_accessed > 1GB' --assert 'p95(nothing) < 1ms' --assert 'count(nothing) == 0'; echo "status $?"
for text in 'gpu_bussy > 80%' 'gpu_busy > 80' 'p95(step) < 150' 'gpu_busy' '> 5%' 'p96(step) < 1s' 'mean() < 1s' 'deviation(aten::mm) < 1s' 'mean(step) > 1.1x'; do
  tracekit check gpu.pftrace.gz --assert "$text"
  echo "status $?"
done
tracekit check -q gpu.pftrace.gz --assert 'kernels < 10' --annotations github; echo "status $?"
tracekit check gpu.pftrace.gz --assert 'kernels < 10' --annotations junit; echo "status $?"
# The trace has a single name, different from the requested one.
echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5}]' > one.json
tracekit check one.json --assert 'percent_of_sum(a) > 99%' --assert 'percent_of_sum(b) < 101%'; echo "status $?"
