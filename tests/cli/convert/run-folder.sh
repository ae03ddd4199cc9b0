# If the output is a folder, files are placed in it where xprof and TensorBoard look for them.
mkdir t && cp "$FIXTURES/json/torch/ddp2_plain/rank1.json.gz" t/
tracekit convert t/rank1.json.gz -o tb/ && find tb -type f
tracekit convert "$FIXTURES"/xplane/multihost -o hosts/ -q && find hosts -type f | sort
mkdir there && tracekit convert t/rank1.json.gz -f xplane -o there && find there -type f
