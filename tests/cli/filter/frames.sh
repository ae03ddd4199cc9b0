# A stack frame is kept if a kept event or a kept frame refers to it, by string or by number.
cat > in.json <<'END'
{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a","sf":"q\"r"},{"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"a","sf":7},
{"ph":"X","pid":1,"tid":1,"ts":9,"dur":1,"name":"a","sf":18446744073709551615},{"ph":"X","pid":1,"tid":1,"ts":12,"dur":1,"name":"b","sf":8}],
"stackFrames":{"q\"r":{"name":"f","parent":"p\\q"},"p\\q":{"name":"g"},"7":{"name":"h"},"8":{"name":"i"},"18446744073709551615":{"name":"j"}}}
END
tracekit filter -q --name a in.json -f json -o - | grep stackFrames
