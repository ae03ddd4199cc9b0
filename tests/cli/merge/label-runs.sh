for run in monday tuesday; do
  mkdir -p $run/step_100 && cp "$FIXTURES"/json/torch/ddp2_plain/rank0.json.gz $run/step_100
done
tracekit merge -q */*/rank0.json.gz --label '{run} {step} {input}: {process}' -o merged.json && grep -o '"process_name".*' merged.json
