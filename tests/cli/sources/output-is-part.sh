# An output that would replace an input is refused, however the input was named.
mkdir d && cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz d/ && gunzip d/*.gz
tar cf t.tar d && ls d/* > list && md5sum t.tar d/* > sums
tracekit convert t.tar:d/rank0.json -f json -o t.tar --force; echo "status $?"
tracekit extract t.tar:d/rank0.json -f json -o t.tar --force; echo "status $?"
tracekit filter d --allow-empty --name n1 -o d/rank0.json --force; echo "status $?"
tracekit filter @list --allow-empty --name n1 -o d/rank1.json --force; echo "status $?"
tracekit shrink 'd/*' --percent 50 -o d/rank0.json --force; echo "status $?"
tracekit split d --by rank -o 'd/rank{}.json' --force; echo "status $?"
md5sum --quiet -c sums && echo "all as they were"
