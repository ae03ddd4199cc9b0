# Refused: messages that are not requests, invalid arguments, paths outside of the permitted folders, statements that would write.
. "$SRC/tests/support/mcp.sh"
mkdir in out; trace=$FIXTURES/json/torch/ddp2_plain/rank0.json.gz
cp "$trace" in; cp "$trace" out/secret.json.gz
mkdir in/folder in/around; ln -s "$PWD/out/secret.json.gz" in/link; ln -s "$PWD/out" in/folder/out; ln -s .. in/around/up
echo "$PWD/out/secret.json.gz" > in/list.txt; cp in/list.txt 'in/@list.txt'
echo "== messages"
{
  echo 'not json'; echo '[]'; echo '{}'; echo '7'; echo '{"jsonrpc":"2.0","id":{},"method":"ping"}'; echo '{"jsonrpc":"2.0","id":"x"}'
  echo '{"jsonrpc":"2.0","id":"x","method":"no/such"}'; echo '{"jsonrpc":"2.0","method":"no/such"}'; echo '{"id":1,"result":{}}'
  echo '[{"jsonrpc":"2.0","id":"b1","method":"ping"},{"jsonrpc":"2.0","id":"b2","method":"ping"},3]'
  printf '{"jsonrpc":"2.0","id":"\xff","method":"ping"}\n{"jsonrpc":"2.0","id":"\\u00e9","method":"ping"}\n\0\n'
  python3 -c 'print("[" * 100000); print("{\"a\":" * 5000); print("x" * (3 << 20)); print("[" + "1," * 400000 + "1]")'
  echo '{"jsonrpc":"2.0","id":"last","method":"ping"}' | tr -d '\n'
} | tracekit mcp in | shorten | uniq -c | awk '$1 > 9 { $1 = "many" } { $1 = $1; print }'
echo "== arguments"
{
  call nope '{}'; call info '{}'; call info 7; call info '{"paths":[]}'; call info '{"paths":"rank0.json.gz"}'; call info '{"paths":[1]}'
  call diff '{"paths":["rank0.json.gz"]}'; call sql '{"paths":["rank0.json.gz"]}'
  for option in output script db force thresholds max-memory json -o 'limit"; "'; do call sql "{\"paths\":[\"rank0.json.gz\"],\"execute\":[\"SELECT 1\"],\"$option\":\"x\"}"; done
  for limit in 0 -1 1e9 2.5 '"2"' null 2.5e400; do call top "{\"paths\":[\"rank0.json.gz\"],\"limit\":$limit}"; done
  call top '{"paths":["rank0.json.gz"],"kind":true}'; call top '{"paths":["rank0.json.gz"],"by":"--output=x"}'
} | tracekit mcp in | shorten | sort -s -n -k 1,1 # errors are answered before the calls that wait
echo "== paths"
for path in ../out/secret.json.gz "$PWD/out/secret.json.gz" link folder folder/out/secret.json.gz "$PWD/in/../out" / '' . @list.txt list.txt - \
  '*.gz' 'file:///etc/passwd' s3://bucket/x https://host/x '-o' '--help' 'rank0.json.gz\u0000' 'rank0.json.gz\n' 'link:x' around; do
  call list "{\"paths\":[\"$path\"]}"
done | tracekit mcp in | shorten
echo "== statements"
# SQLite as built for wheels has no extensions and reports an unknown function with its position in the query. The sed command makes
# both texts equal.
for sql in "ATTACH 'x.db' AS x" 'CREATE TABLE t(a)' 'DROP TABLE slice' 'PRAGMA writable_schema=1' "VACUUM INTO 'x.db'" "SELECT load_extension('x')" \
  "SELECT writefile('x', 'y')" "SELECT readfile('/etc/passwd')" 'INSERT INTO slice(id) VALUES (1)' '.shell touch x' '.output x'; do
  call sql "{\"paths\":[\"rank0.json.gz\"],\"execute\":[\"$sql\"]}"
done | tracekit mcp in | shorten |
  sed 's/ (line [0-9]*, column [0-9]*)//; s/function load_extension is not allowed.*trace/no such function: load_extension/'
find . -name 'x*'; (cd in && find . | LC_ALL=C sort)
tracekit mcp in/rank0.json.gz; echo "status $?"; tracekit mcp none; echo "status $?"
