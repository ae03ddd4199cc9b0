cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge --manifest --no-provenance rank?.json.gz -o merged.tar && tar tf merged.tar && tar xOf merged.tar perfetto_manifest.json
tracekit merge --manifest rank?.json.gz -o merged.tar; echo "status $?"
tracekit merge --manifest rank?.json.gz -o merged.json; echo "status $?"
tracekit merge --manifest rank?.json.gz -f json -o merged.tar --force; echo "status $?"
tracekit merge --manifest rank?.json.gz --group-by=host -o two.tar; echo "status $?"
tracekit merge --manifest rank0.json.gz "$FIXTURES/xplane/mlp_train/vm.xplane.pb" -o two.tar 2>&1 | sed "s,$FIXTURES,FIXTURES,"
tracekit merge --manifest --dry-run -q rank?.json.gz -o two.tar; ls
