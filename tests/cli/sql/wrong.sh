# Refused statements, each with its exit status.
printf '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"name":"a","ts":0,"dur":1}]}' > t.json
refused() { echo "== $*"; timeout 20 tracekit sql t.json --timeout 5s "$@" 2>&1; echo "status $?"; }
refused -e 'SELECT nope FROM slice'
refused -e $'SELECT 1;\nSELECT\n  * FRM slice'
refused -e "ATTACH 'other.db' AS other"
refused -e 'PRAGMA writable_schema = 1'
refused -e 'PRAGMA journal_mode = WAL'
refused -e "VACUUM INTO 'copy.db'"
refused -e 'CREATE VIRTUAL TABLE v USING fts5(a)'
# An SQLite without full-text search reports an unknown function with its position in the query, which is removed here.
refused -e "SELECT fts3_tokenizer('simple', x'4141414141414141'); SELECT * FROM fts3tokenize WHERE input = 'a'" | sed 's/ (line [0-9]*, column [0-9]*)//'
refused -e "CREATE TABLE d(a, b DEFAULT (load_extension('x'))); INSERT INTO d(a) VALUES (1)"
refused -e "INSERT INTO slice(name) VALUES ('x')"
refused -e 'DELETE FROM metadata'
refused -e 'DROP TABLE stats'
refused -e 'CREATE PERFETTO TABLE x AS SELECT 1'
refused -e 'CREATE OR REPLACE PERFETTO FUNCTION f(x INT) RETURNS INT AS SELECT 1'
refused -e 'INCLUDE PERFETTO MODULE android.startup.startups; SELECT 1'
refused -e 'INCLUDE PERFETTO MODULE slices.with_context; SELECT count(*) AS n FROM thread_or_process_slice'
refused --timeout 200ms -e 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r'
refused --timeout 200ms -e 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 100000) SELECT count(*) FROM r a, r b, r c'
refused --max-memory 64M -e 'CREATE TABLE big AS WITH RECURSIVE r(x) AS (SELECT zeroblob(100000) UNION ALL SELECT zeroblob(100000) FROM r) SELECT x FROM r'
refused -e "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b' AS like"
refused --csv --json -e 'SELECT 1'
refused -e 'SELECT 1' --script x.sql
refused --script none.sql
echo '== which trace?'; echo 'SELECT 1' | tracekit sql; echo "status $?"
ls
