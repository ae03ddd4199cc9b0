# Operations on a run of several ranks: the ranks are joined into one trace first.
export TMPDIR=$PWD/tmp
mkdir tmp
mkdir run
cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz run/
tracekit filter run --rank 1 --min-dur 100us -o one.json | head -n 1
tracekit split -q run --by rank -o 'r.{}.json' && ls r.*
tracekit size run --top 1 | head -n 1 | sed -E 's/[0-9.]+ [KM]?B compressed/N compressed/'
tracekit shrink run --percent 30 -o small.json | tail -n 1
tracekit rebase -q run --to-zero -o zero.json && tracekit check zero.json
tracekit filter run/none -o none.json; echo "status $?"
ls tmp
# an unreadable host must not be left out silently
mkdir -p part/plugins/profile/r
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" part/plugins/profile/r/a.trace.json.gz
printf 'no trace' > part/plugins/profile/r/b.trace.json.gz
tracekit filter --cat cpu_op part -o left.json; echo "status $?"; ls left.json 2> /dev/null
