cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge -q rank?.json.gz --label '{process} on {host}, {rank}' -o merged.json && grep -o '"process_name".*' merged.json
for label in trainer '{rnk}' '{rank'; do tracekit merge -q rank?.json.gz --label "$label" -o no.json; echo "status $?"; done; ls
