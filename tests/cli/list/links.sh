# Links to a folder above, to a sibling folder, to a file that is already listed. Nothing is listed twice, and real names win.
mkdir -p logs/a logs/z
cp "$FIXTURES/json/viz/viz_small.json" logs/z/t.json
ln -s .. logs/a/up
ln -s ../z logs/a/beside
ln -s z/t.json logs/latest.json
ln -s "$PWD/logs" logs/a/again
tracekit list logs
ln -s logs/z other
tracekit list other
