# Results as a table, CSV and JSON; several statements; from -e, a file and standard input.
printf '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"name":"a \\"b\\", c\\u001b[31m","ts":0,"dur":1500},{"ph":"X","pid":1,"tid":1,"name":"longer name than others","ts":2000,"dur":0.5}]}' > t.json
query="SELECT name, dur, dur/1e3 AS us, NULL AS none, x'00ff' AS bytes FROM slice; SELECT count(*) AS n FROM slice;"
for as in --no-csv --csv --json --jsonl; do echo "== $as"; tracekit sql t.json "$as" -e "$query"; done
echo '== a narrow terminal'; COLUMNS=40 tracekit sql t.json -e 'SELECT name, dur, name AS again FROM slice'
echo '== names of columns twice'; tracekit sql t.json --jsonl -e 'SELECT 1 AS a, 2 AS a, 3 AS b'
echo '== several -e'; tracekit sql t.json -e 'CREATE VIEW v AS SELECT name, dur FROM slice' -e 'SELECT max(dur) FROM v'
echo '== a script'; printf -- '-- a comment\nSELECT 1; /* another */ SELECT 2' > s.sql; tracekit sql t.json --script s.sql --csv
echo '== standard input'; echo 'SELECT name FROM slices ORDER BY ts' | tracekit sql t.json --csv
echo '== no rows'; tracekit sql t.json -e 'SELECT name FROM slice WHERE 0'
echo '== no statement'; tracekit sql t.json -e ' ; -- nothing'
echo '== rows beyond the limit'; tracekit sql t.json --csv --max-rows 1 -e 'SELECT name FROM slice' 2>&1
echo '== numbers'; tracekit sql t.json --jsonl -e "SELECT 9223372036854775807 AS i, 0.1 AS d, 1e300*1e300 AS infinite, 1.0 AS one, -0.0 AS zero"
