# Every command that is listed says how it is used, stands in the overview in the same order, and is listed once.
tracekit __docs commands > commands
for c in $(cat commands); do tracekit help $c | head -n 1 | grep "^Usage: tracekit $c " > /dev/null || echo "$c: no usage"; done
tracekit help | sed -n '/^Commands:/,/^$/p' | awk 'NF > 1 && $1 != "help" { print $1 }' | diff commands -
sort commands | uniq -d
grep -cxE 'convert|merge' commands
