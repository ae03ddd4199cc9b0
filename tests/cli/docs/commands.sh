# Every command has a usage line and is listed once in the overview, in the order of the table.
tracekit __docs commands > commands
for c in $(cat commands); do tracekit help $c | head -n 1 | grep "^Usage: tracekit $c " > /dev/null || echo "$c: no usage"; done
tracekit help | sed -n '/^Help:/q; s/^  \([a-z]*\) .*/\1/p' | diff commands -
sort commands | uniq -d
grep -cxE 'convert|merge' commands
