# No file is replaced before all parts are complete.
printf '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"},{"ph":"X","pid":2,"tid":1,"ts":5,"dur":2,"name":"b"}]' > two.json
mkdir -p ro/p.2.json
echo old > ro/p.1.json
tracekit split two.json --by process -o 'ro/p.{}.json' --force; echo "status $?"
cat ro/p.1.json
rmdir ro/p.2.json
cp two.json ro/p.2.json
tracekit split ro/p.2.json --by process -o 'ro/p.{}.json' --force; echo "status $?"
cat ro/p.1.json
ls -A ro

# If an output file exists, split fails before it reads the rest of the input, even in a dry run.
tracekit split two.json --by process -o 'ro/p.{}.json' -n; echo "status $?"
tracekit split two.json --by process -o 'ro/p.{}.json'; echo "status $?"

# Processes with equal file names stay apart, and a long name is cut between characters.
long=$(printf 'x%.0s' $(seq 155))
printf '[{"ph":"X","pid":"a b","tid":1,"ts":1,"dur":1,"name":"x"},{"ph":"X","pid":"a_b","tid":1,"ts":2,"dur":1,"name":"x"},
{"ph":"X","pid":"a/b","tid":1,"ts":3,"dur":1,"name":"x"},{"ph":"X","pid":"2.a b","tid":1,"ts":3,"dur":1,"name":"x"},
{"ph":"X","pid":"%sää1","tid":1,"ts":4,"dur":1,"name":"x"},{"ph":"X","pid":"%sää€2","tid":1,"ts":5,"dur":1,"name":"x"},
{"ph":"X","pid":"%s€€","tid":1,"ts":6,"dur":1,"name":"x"}]' "$long" "$long" "$long" > same.json
tracekit split same.json --by process -o 's.{}.json'

# An invalid name of the parts is refused before anything is read.
tracekit split missing.json --by process -o 'p.{}.foo'; echo "status $?"
tracekit split missing.json --by process -o 'nowhere/p.{}.json'; echo "status $?"
tracekit split two.json --by process -o '{}/p.json' | wc -l
