# A double with an integer value is printed without an exponent if all its digits are exact: readers round numbers with exponents.
echo '[{"ph":"C","pid":1,"name":"n","ts":1,"args":{"v":1099511627774750.5}},{"ph":"C","pid":1,"name":"n","ts":2,"args":{"v":1099511627774750}},
{"ph":"C","pid":1,"name":"n","ts":3,"args":{"v":-1e15}},{"ph":"C","pid":1,"name":"n","ts":4,"args":{"v":1e16}}]' > a.json
tracekit convert -q a.json -o a.pftrace
tracekit convert -q a.pftrace -o b.json
grep -o '"v":[-0-9.e+]*' b.json
