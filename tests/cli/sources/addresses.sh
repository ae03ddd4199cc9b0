# Every kind of address as an input: files, folders, archives, members and lists; and the command lines that the programs get.
. "$SRC/tests/support/helpers.sh"
traces=$FIXTURES/json/torch/ddp2_plain
mkdir -p store/bucket/run "store/owner/repo/a b" store/home
cp "$traces"/rank?.json.gz store/bucket/run
cp "$traces"/rank?.json.gz "store/owner/repo/a b"
cp "$traces"/rank1.json.gz "store/home/it's \$(touch oops) rank1.json.gz"
python3 -m zipfile -c store/bucket/logs.zip "$traces"/rank?.json.gz
events() { grep -E '^[^ ]|events ' | sed "s|$PWD|DIR|g"; }

echo "== files"
tracekit info -q s3://bucket/run/rank0.json.gz | events; forget
tracekit info -q gs://bucket/run/rank0.json.gz | events; forget
tracekit info -q 'hf://datasets/owner/repo@v1/a b/rank0.json.gz' | events; forget
(cd store/home && tracekit info -q "ssh://me@host.example:2222/~/home/it's \$(touch oops) rank1.json.gz" | events); forget
tracekit info -q "ssh://[::1]$PWD/store/bucket/run/rank0.json.gz" | events; forget
tracekit info -q "file://$PWD/store/bucket/run/rank%30.json.gz" | events
tracekit info -q "file://localhost$PWD/store/bucket/logs.zip:rank1*" | events
find . -name oops

echo "== folders"
tracekit list -q s3://bucket/run/; forget
tracekit list -q gs://bucket/run/; forget
tracekit list -q 'hf://datasets/owner/repo/a b/' | sed "s|$PWD|DIR|g"; forget
tracekit list -q ssh://host/~/bucket/run/; forget

echo "== gsutil, where there is no gcloud"
mkdir tools
for tool in bash env cat find sort stat; do ln -s "$(command -v $tool)" tools/$tool; done
for tool in gsutil tracekit; do ln -s "$(command -v $tool)" tools/$tool; done
PATH=$PWD/tools tracekit list -q gs://bucket/run/; forget
PATH=$PWD/tools tracekit info -q gs://bucket/run/rank0.json.gz | events; forget

echo "== merges"
tracekit merge -q s3://bucket/run/rank0.json.gz s3://bucket/run/rank1.json.gz -o a.json; forget
tracekit merge -q s3://bucket/run/ -o a.json --force; forget
tracekit merge -q "$PWD/store/bucket/run/" -o b.json
cmp <(sed "s|$PWD/store/|s3://|g" b.json) a.json
printf '# ranks\ngs://bucket/run/rank1.json.gz\ns3://bucket/run/rank0.json.gz\n' > list.txt
tracekit merge @list.txt -o c.json | cut -c1-40; forget

echo "== archives"
tracekit list -q s3://bucket/logs.zip; forget
tracekit info -q s3://bucket/logs.zip:rank1.json.gz | events; forget
tracekit info s3://bucket/run/rank0.json.gz:x 2> /dev/null; echo "status $?"; tracekit info gs://bucket/run/rank0.tar:x 2> /dev/null; echo "status $?"; forget
