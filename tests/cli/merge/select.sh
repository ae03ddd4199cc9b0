cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
tracekit merge rank?.json.gz --rank 1 -o one.json.gz
tracekit merge rank?.json.gz --every-rank 2 --time +10ms..+20ms --to 200KB --to-zero -o part.json
tracekit merge rank?.json.gz --rank 7 -o none.json.gz
echo $?
tracekit merge rank?.json.gz --align=none --rank 2..1 -o none.json.gz
echo $?
tracekit merge rank?.json.gz --offset 1=200d -o none.json.gz
echo $?
ls
