# The text of an arg as a path: split only outside of parentheses, folded with --fold, with the self time of nested events.
cp "$FIXTURES/xplane/synth/tpu.xplane.pb" .
tracekit tree -q tpu.xplane.pb --path arg.tf_op --top 3
tracekit tree -q tpu.xplane.pb --path tf_op --fold --json | grep -o '"name": *"[^"]*"'
cat > nested.json <<'J'
[{"ph":"X","name":"while","pid":1,"tid":1,"ts":0,"dur":100,"args":{"op":"f(a/b)/loop"}},
{"ph":"X","name":"dot","pid":1,"tid":1,"ts":10,"dur":30,"args":{"op":"f(a/b)/loop/dot"}},
{"ph":"X","name":"other","pid":1,"tid":1,"ts":200,"dur":5}]
J
tracekit tree -q nested.json --path arg.op
tracekit tree -q nested.json --path arg.none
tracekit tree -q nested.json --path arg.op --per dot
