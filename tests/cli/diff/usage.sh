# Valid and invalid names, conditions and combinations of options.
span() { printf '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":%s},{"ph":"X","name":"%s","pid":1,"tid":1,"ts":1,"dur":1}]}' "$1" "$2"; }
span 10 'b,\"' > before.json
span 15 c > after.json
tracekit diff before.json after.json
tracekit diff before.json after.json --csv
tracekit diff --before before.json --before before.json --after after.json --top 1
tracekit diff before.json; echo "status $?"
tracekit diff --before before.json after.json; echo "status $?"
tracekit diff before.json after.json --by kind; echo "status $?"
tracekit diff before.json after.json --by nme; echo "status $?"
tracekit diff before.json none.json; echo "status $?"
tracekit diff before.json after.json --csv --json; echo "status $?"
tracekit diff -q before.json after.json --top 1 --fail-if 'total > 40%' --fail-if 'count(a) > 1.1x'; echo "status $?"
tracekit diff -q before.json after.json --fail-if 'total(a) > 1us' --annotations junit; echo "status $?"
tracekit diff -q before.json after.json --top 1 --fail-if 'totl(a) > 1us'; echo "status $?"
tracekit diff before.json after.json --html d.html | sed 's/: .*//'
tracekit diff before.json after.json --html d.html --force --csv | head -n 1
tracekit diff before.json after.json --html d.html --force --annotations junit --fail-if 'total > 90%' | head -n 1
