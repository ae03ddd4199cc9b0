# A session: the handshake, the tools, an answer of each tool, lists that are cut and continued.
. "$SRC/tests/support/mcp.sh"
cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
python3 -m zipfile -c logs.zip rank?.json.gz
{
  say initialize '{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}}'
  say initialize '{"protocolVersion":"1999-01-01"}'
  echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  say ping
  say tools/list
} | tracekit mcp | shorten
say tools/list | tracekit mcp | python3 -c '
import json, sys
tools = json.load(sys.stdin)["result"]["tools"]
for t in tools: print(t["name"], *t["inputSchema"]["properties"])
print(sum(len(json.dumps(t)) for t in tools) < 25000)'
{
  call list '{"paths":["rank0.json.gz","logs.zip"]}'
  call info '{"paths":["logs.zip:rank1.json.gz"]}'
  call report '{"paths":["rank0.json.gz"],"findings":true}'
  call top '{"paths":["rank0.json.gz"],"kind":"op","limit":2}'
  call top '{"paths":["rank0.json.gz"],"kind":"op","limit":2.0,"offset":2e0}'
  call top '{"paths":["rank0.json.gz"],"max_bytes":2000}'
  call tree '{"paths":["rank0.json.gz"],"limit":3}'
  call diff '{"paths":["rank0.json.gz","rank1.json.gz"],"limit":1}'
  call sql '{"paths":["rank0.json.gz","rank1.json.gz"],"execute":["SELECT count(*) FROM slice","SELECT 1"]}'
  call sql '{"paths":["rank0.json.gz"],"execute":["SELECT id FROM slice ORDER BY id"],"limit":3,"offset":10}'
  call check '{"paths":["rank0.json.gz"]}'
  call check '{"paths":["rank0.json.gz"],"assert":["count(aten::add) < 1"]}'
  call view '{"paths":["rank0.json.gz"],"step":"1..2"}'
} | tracekit mcp | shorten
