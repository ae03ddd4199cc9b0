# On a narrow terminal paths are shortened in the middle, and ranks are sorted by number, not by name; in a pipe everything is
# printed.
mkdir -p logs/of/a/long/way/down
for rank in 10 2 0; do
  printf '{"distributedInfo":{"rank":%d},"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}' $rank > logs/of/a/long/way/down/rank$rank.json
done
tracekit merge logs/of/a/long/way/down/*.json --align=none -n -f json
COLUMNS=76 tracekit merge logs/of/a/long/way/down/*.json --align=none -n -f json
COLUMNS=76 tracekit merge -v logs/of/a/long/way/down/*.json --align=none -n -f json
COLUMNS=80 tracekit list logs/of/a | cut -c 1-100
COLUMNS=60 tracekit list logs/of/a | cut -c 1-100
