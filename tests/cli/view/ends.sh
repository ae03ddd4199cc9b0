# The command ends after a browser (visitor.py) has fetched the trace; the address differs every time.
export BROWSER="python3 $SRC/tests/support/visitor.py"
unset SSH_CONNECTION
cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
view() {
  tracekit view "$@" 2>&1 | sed -E 's|127.0.0.1:[0-9]+/[0-9a-f]{32}/|127.0.0.1:PORT/TOKEN/|'
  echo "status ${PIPESTATUS[0]}"
}
view rank0.json.gz
view rank?.json.gz --with report -q
view rank?.json.gz --rank 1
tracekit convert -q rank0.json.gz -o - -f perfetto | view -
ls
