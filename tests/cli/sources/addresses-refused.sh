# Addresses that must not be passed to a program: parts that look like options, control characters, passwords, patterns. No
# program is started.
. "$SRC/tests/support/helpers.sh"
helper curl <<< 'exit 9'
while IFS= read -r address; do
  printf '%b\0' "$address"
done > hostile <<'TABLE'
ssh://-oProxyCommand=touch%20oops/x
ssh://-oProxyCommand=x@host/x
ssh://me@-oProxyCommand=x/x
ssh://me@host:-1/x
ssh://host:22;touch oops/x
ssh://host;touch oops/x
ssh://ho st/x
ssh://[::1;x]/x
ssh://[::1/x
ssh://host
ssh://host/~/-x
ssh:///x
s3://-x/y
s3://
s3:///x
s3://bucket/a\nb
s3://bucket/\x1b[31m
gs://-x/y
gs://bucket/*.json
gs://bucket/a?b
hf://-x/y/z
hf://owner
hf://owner/repo@-x/y
hf://owner/repo@/y
hf://owner/repo/-x
hf://owner/repo/*.json
http://-x/
http://user:secret@host/x
https://secret@host/x
https:///x
https://host/folder/
file://host/x
file://relative
file:///a%0ab
file:///a%00b
file:///a%2
file:///a%zz
ftp://host/x
abfs://host/x
TABLE
while IFS= read -r -d '' address; do
  tracekit info "$address"; echo "status $?"
done < hostile
forget; find . -name oops
# Neither an archive nor a folder nor a trace nor completion starts a program.
mkdir dir; echo s3://bucket/x > dir/list.txt; echo s3://bucket/y > '@list.txt'
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" dir/rank0.json.gz
(cd dir && python3 -m zipfile -c ../a.zip list.txt rank0.json.gz)
tracekit list -q dir a.zip a.zip:list.txt | cut -c1-20
tracekit info dir/list.txt; tracekit __complete sql s3://bucket/x '' > /dev/null
tracekit convert -q dir/rank0.json.gz -o s3://bucket/x.json; echo "status $?"
forget
# A program that is not installed.
for scheme in http https s3 gs hf ssh; do PATH=$(dirname "$(command -v tracekit)") tracekit info $scheme://host/owner/x; echo "status $?"; done
