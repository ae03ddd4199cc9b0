# Fetches with the real curl from a local server: a file, files behind redirects, a file with a query, a missing file, a
# truncated file, a folder.
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" "$FIXTURES/json/torch/ddp2_plain/rank1.json.gz" .
cat > server.py <<'PY'
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        if self.path == '/moved': self.send_response(302); self.send_header('Location', '/rank0.json.gz'); self.end_headers()
        elif self.path == '/away': self.send_response(302); self.send_header('Location', 'file:///etc/hostname'); self.end_headers()
        elif self.path == '/cut.json.gz':
            data = open('rank0.json.gz', 'rb').read()
            self.send_response(200); self.send_header('Content-Length', str(len(data))); self.end_headers()
            self.wfile.write(data[:50000])
        else: super().do_GET()
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PY
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
python3 server.py > port & server=$!
trap 'kill $server' EXIT
for ((i = 0; i < 100; i++)); do [ -s port ] && break; sleep 0.05; done
at=http://127.0.0.1:$(cat port)
plain() { sed -E "s|$at|http://HOST|g; s/curl: .*/curl/"; }
for path in rank0.json.gz moved 'rank1.json.gz?signature=secret#x' missing.json cut.json.gz away folder/; do
  tracekit info -q "$at/$path" 2>&1 | grep -E '^[^ ]|events' | plain; echo "status ${PIPESTATUS[0]}"
done
tracekit merge -q "$at/rank0.json.gz" "$at/rank1.json.gz?signature=secret" -o merged.json; echo "status $?"
tracekit merge -q rank0.json.gz rank1.json.gz -o local.json
cmp <(sed "s|$at/||g" merged.json) local.json
! grep secret merged.json
