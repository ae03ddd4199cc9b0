# Inputs that are hours apart are not ranks of one run, or one has a wrong clock: a note reports this, unless inputs overlap.
at() { printf '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":5}],"baseTimeNanoseconds":%s}' "$1"; }
at 1700000000000000000 > rank0.json
at 1731600000000000000 > rank1.json
at 1700000000000900000 > rank2.json
tracekit merge rank0.json rank1.json -o late.json > /dev/null
tracekit merge rank0.json rank2.json -o near.json > /dev/null
