cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
gunzip rank0.json.gz && cp rank0.json was.json && echo old > report.json
tracekit merge -q rank0.json rank1.json.gz -o merged.json --align-report rank0.json --force; echo "status $?"; cmp rank0.json was.json
tracekit merge -q rank0.json rank1.json.gz -o merged.json --align-report merged.json --force; echo "status $?"
tracekit merge -q rank0.json rank1.json.gz -o merged.json --align-report report.json; echo "status $?"
tracekit merge -q rank0.json missing.json -o merged.json --align-report report.json --force; echo "status $?"; cat report.json; ls
tracekit merge -q rank0.json rank1.json.gz -o merged.json --align-report - | grep -o '^{"method":"clock"'
