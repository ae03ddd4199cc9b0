tracekit view no-such-file.json --no-browser
echo "status $?"
tracekit view "$FIXTURES/json/viz/viz_small.json" no-such-file.json --no-browser
echo "status $?"
tracekit view "$FIXTURES/json/viz/viz_small.json" --name 'no such name' --no-browser
