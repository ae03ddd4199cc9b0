# List files, patterns not expanded by the shell, archive members, folders and patterns for members.
cp "$FIXTURES"/json/torch/ddp2_plain/rank?.json.gz .
printf '# a list\nrank1.json.gz\r\n\n  \nrank0.json.gz\n' > list.txt
tracekit merge @list.txt -o a.json | cut -c1-40
tracekit merge 'rank*.json.gz' -o b.json | cut -c1-40
tracekit info -q "$FIXTURES/nasty/archive/ranks.zip:rank1.json.gz" | grep -E 'events|rank '
tracekit info -q "$FIXTURES/nasty/archive/ranks.zip:*" | grep -c events
tracekit info "$FIXTURES/nasty/archive/ranks.zip:rank7" 2>&1 | sed "s|$FIXTURES/||"
cat list.txt | tracekit merge -q @- -o c.json && cmp a.json c.json
: > nothing.txt; tracekit info @nothing.txt; echo "status $?"
tracekit merge @none.txt -o d.json; echo "status $?"
printf '@loop.txt\n' > loop.txt; tracekit info @loop.txt; echo "status $?"
mkdir odd; cp rank0.json.gz 'odd/a:b[0].json.gz'; tracekit info -q 'odd/a:b[0].json.gz' | grep events
