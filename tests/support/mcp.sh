# mcp.sh - sourced by tests: say() and call() print requests for `tracekit mcp`; shorten() prints its answers without temporary
# paths.
say() { # METHOD PARAMS: a request with the next id
  id=$((${id:-0} + 1))
  printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' $id "$1" "${2:-{\}}"
}
call() { say tools/call "{\"name\":\"$1\",\"arguments\":$2}"; } # TOOL ARGUMENTS
shorten() {
  sed "s|$PWD|DIR|g" | python3 -c '
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    r = m.get("result", {})
    if "structuredContent" in r:
        assert json.loads(r["content"][0]["text"]) == r["structuredContent"]
        assert len(r["content"][0]["text"]) < 25000 and not r["isError"]
        r = r["structuredContent"]
    text = json.dumps(m["error"] if "error" in m else r)
    print(m["id"], text if len(text) < 400 else "%s... (%d bytes)" % (text[:300], len(text)))'
}
