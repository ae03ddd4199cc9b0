# Calls that do not end: cancelled ones get no answer, others are ended after --timeout; the session goes on, and no child is left.
. "$SRC/tests/support/mcp.sh"
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" .
endless='{"paths":["rank0.json.gz"],"execute":["WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r"]}'
children() { pgrep -P "$1" | wc -l; }
mkfifo to; tracekit mcp < to > answers & server=$!
exec 3> to
{ call sql "$endless"; call sql "$endless"; say ping; call info '{"paths":["rank0.json.gz"]}'; } >&3
for ((i = 0; i < 100; i++)); do [ "$(children $server)" = 1 ] && break; sleep 0.05; done
echo "running $(children $server)"
printf '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}\n' 2 7 1 >&3
for ((i = 0; i < 100; i++)); do [ "$(wc -l < answers)" = 2 ] && break; sleep 0.05; done
echo "running $(children $server)"
shorten < answers
exec 3>&-; wait $server; echo "status $?"
{ call sql "$endless"; say ping; } | tracekit mcp --timeout 1s | shorten
# A signal ends the server and the child.
mkfifo again; env --default-signal=TERM tracekit mcp < again > answers & server=$!
exec 3> again
call sql "$endless" >&3
for ((i = 0; i < 100; i++)); do [ "$(children $server)" = 1 ] && break; sleep 0.05; done
child=$(pgrep -P $server); kill -TERM $server; wait $server; echo "status $?"
kill -0 "$child" 2> /dev/null && echo 'still running'
exec 3>&-; wc -c < answers
