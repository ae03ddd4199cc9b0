cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge -q rank?.json.gz --group-by=kind -o merged.json && grep -o '"process_sort_index".*' merged.json
tracekit merge -q rank?.json.gz --group-by=gpu -o no.json; echo "status $?"; ls
tracekit merge --align=none rank?.json.gz --group-by=host -o merged.xplane.pb >/dev/null
