# Span joins, which give the same rows as in trace_processor; and joins of events with the times of slices.
cat > t.json <<'J'
{"traceEvents":[
{"ph":"X","pid":1,"tid":1,"name":"step","ts":0,"dur":10},
{"ph":"X","pid":1,"tid":1,"name":"step","ts":10,"dur":10},
{"ph":"X","pid":1,"tid":2,"name":"a","ts":1,"dur":4},
{"ph":"X","pid":1,"tid":2,"name":"b","ts":8,"dur":4},
{"ph":"i","s":"t","pid":1,"tid":2,"name":"i","ts":15},
{"ph":"C","pid":1,"name":"memory","ts":2,"args":{"used":1}},
{"ph":"C","pid":1,"name":"memory","ts":9,"args":{"used":3}}
]}
J
cat > tables.sql <<'S'
CREATE TABLE l(ts, dur, k, x);
CREATE TABLE r(ts, dur, k, y);
INSERT INTO l VALUES (0, 10, 1, 'a'), (10, 5, 1, 'b'), (20, 0, 1, 'z'), (30, 10, 1, 'c'), (5, 10, 2, 'd'), (0, 10, 4, 'e'), (0, 9, NULL, 'n');
INSERT INTO r VALUES (5, 10, 1, 'p'), (20, 0, 1, 'q'), (30, 0, 1, 'i'), (33, 0, 1, 'm'), (35, 20, 1, 'r'), (0, 7, 3, 's'), (8, 10, 4, 't');
CREATE VIEW one AS SELECT ts, dur, x FROM l WHERE k = 1;
CREATE VIEW other AS SELECT ts, dur, y FROM r WHERE k = 1;
S
for join in span_join span_left_join span_outer_join; do
  for tables in 'one, other' 'l PARTITIONED k, r PARTITIONED k' 'l PARTITIONED k, other' 'one, "r" partitioned "k"'; do
    echo "== $join($tables)"
    { cat tables.sql; echo "CREATE VIRTUAL TABLE j USING $join($tables); SELECT * FROM j;"; } | tracekit sql -q t.json --csv
  done
done
echo '== errors'
while read -r define; do
  { cat tables.sql; echo "$define; SELECT * FROM j;"; } | tracekit sql -q t.json --csv || echo "status $?"
done <<'S'
CREATE VIRTUAL TABLE j USING span_join(one)
CREATE VIRTUAL TABLE j USING span_join(one, other, l)
CREATE VIRTUAL TABLE j USING span_join(one, missing)
CREATE VIRTUAL TABLE j USING span_join(one BY k, other)
CREATE VIRTUAL TABLE j USING span_join(one, other PARTITIONED k)
CREATE VIRTUAL TABLE j USING span_join(one, one)
CREATE VIRTUAL TABLE j USING span_join(one, process)
CREATE VIRTUAL TABLE j USING span_join(l PARTITIONED k, r PARTITIONED y)
CREATE VIRTUAL TABLE j USING span_join(l PARTITIONED x, other)
CREATE TABLE t AS SELECT * FROM one; CREATE VIRTUAL TABLE j USING span_join(t, other); DROP TABLE t; CREATE VIEW t AS SELECT ts, dur, x FROM j
CREATE VIRTUAL TABLE j USING span_join(one, other); INSERT INTO j VALUES (1)
SELECT * FROM span_join
S
echo '== ranges'
tracekit sql -q t.json --csv -e "SELECT s.ts, count(*) AS n, sum(e.dur) FROM slice s JOIN event e ON e.ts BETWEEN s.ts AND s.ts + s.dur - 1 WHERE s.name = 'step' GROUP BY s.id" \
  -e "SELECT s.name, (SELECT value FROM counter c WHERE c.ts <= s.ts ORDER BY c.ts DESC LIMIT 1) AS used FROM slice s ORDER BY s.ts DESC" \
  -e "EXPLAIN QUERY PLAN SELECT s.ts FROM slice s JOIN event e ON e.ts BETWEEN s.ts AND s.ts + s.dur WHERE s.name = 'step'"
