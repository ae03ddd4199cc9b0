# Follows links to a folder above, a sibling folder and a listed file. Each trace is listed once, under its real name.
mkdir -p logs/a logs/z
cp "$FIXTURES/json/viz/viz_small.json" logs/z/t.json
ln -s .. logs/a/up
ln -s ../z logs/a/beside
ln -s z/t.json logs/latest.json
ln -s "$PWD/logs" logs/a/again
tracekit list logs
ln -s logs/z other
tracekit list other
