# The overview: its sections; the text is in tests/words/help.txt.
tracekit help > help
grep -cE '^[A-Z][a-z, ]+:' help
tracekit --help | cmp - help
tracekit -h > short
cmp -n "$(wc -c < short)" short help && [ "$(wc -l < short)" -lt "$(wc -l < help)" ] && echo 'the short one is the beginning of the long one'
tracekit 2> said
status=$?
tracekit help | cmp - said
# Each topic in the overview has a text.
for topic in $(sed -n '/^Topics:/,/^$/p' help | awk 'NF > 1 && !/^Topics/ { print $1 }'); do
  tracekit help "$topic" > text && [ -s text ] && echo "$topic"
done
tracekit help expressions | grep -c '^  [a-zA-Z.]* *[a-z]'
tracekit help expresions
exit $status
