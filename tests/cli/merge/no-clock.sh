# The message names the input that records no absolute time, whatever the order of the inputs.
printf 'a 7/7 [000] 12.5: cycles:\n\t400570 f (/bin/a)\n' > a.perf
echo '{"baseTimeNanoseconds":1790000000000000000,"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}]}' > b.json
tracekit merge a.perf b.json -o 1.json 2>&1 | grep -oE "because [a-z ]+|^[ab].[a-z]+: its clock.*"
tracekit merge b.json a.perf -o 2.json 2>&1 | grep -oE "because [a-z ]+|^[ab].[a-z]+: its clock.*"
