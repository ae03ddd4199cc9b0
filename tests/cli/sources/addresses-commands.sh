# Every command reads an address, also one that reads its input twice, and --no-fetch refuses it. A stream has no size.
. "$SRC/tests/support/helpers.sh"
mkdir -p store/bucket
cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz store/bucket
a=s3://bucket/rank0.json.gz b=s3://bucket/rank1.json.gz
try() { # COMMAND...: the same answer for the file and for the address; nothing is started with --no-fetch
  local name=$1 n
  tracekit "${@//s3:/store}" > file.out 2> file.err; n=$?
  tracekit "$@" > address.out 2> address.err || true
  sed -E 's|store//|s3://|g; s/: [0-9.]+ KB; as/: as/; /"size"/d' file.out | cmp - <(sed '/"size"/d' address.out)
  echo "$name status $n, started $(forget | grep -c '^aws')"
  tracekit "$@" --no-fetch > refused.out 2>&1
  echo "  refused $?: $(grep -c 'no-fetch' refused.out), started $(forget | grep -c .)"
}
for command in info check dump report size; do try $command $a; done
for command in top tree; do try $command $a --json; done
try list $a $b --deep --json
try sql $a -q 'select count(*) from slice'
try diff $a $b
for command in convert rebase redact filter shrink extract; do
  more=; case $command in filter) more='--min-dur 1us' ;; shrink) more='--to 100KB' ;; rebase) more=--to-zero ;; redact) more=--force ;; esac
  tracekit $command -q $a $more -o $command.json > /dev/null; echo "$command $? $(forget | grep -c .) $(ls $command.json)"
done
tracekit split -q $a --by process -o 'part-{}.json' > /dev/null; echo "split $? $(forget | grep -c .) $(ls part-* | wc -l)"
tracekit scan -q $a -o 0.scan > /dev/null; tracekit scan -q $b -o 1.scan > /dev/null; echo "scan $? $(forget | grep -c .)"
tracekit plan -q 0.scan 1.scan -o job.plan > /dev/null && tracekit apply -q job.plan $a -o 0.part > /dev/null; echo "apply $? $(forget | grep -c .)"
env --default-signal=INT tracekit view -q $a --no-browser > view.out & sleep 1; kill -INT $!; wait $!; echo "view $? $(grep -c 127.0.0.1 view.out)"
