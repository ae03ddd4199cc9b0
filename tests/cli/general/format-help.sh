# Each format has a row with its title, its operations and its limitations, in lines of at most 80 columns; all commands and the
# overview show the same rows.
tracekit convert -f help > rows
grep -vE '^  [a-z][a-z0-9-]* +[A-Za-z].* \((read|write|read, write); [._]|^ {16}[a-z]' rows
awk 'length > 80' rows
grep -oE '^  (json|xplane|perfetto) ' rows
grep -A 1 '^  perfetto' rows | tail -n 1 | cut -c 1-62
tracekit merge --format=help | cmp rows -
tracekit help | sed -n '/^Formats:/,/^$/p' | sed '1d;$d' | cmp rows -
tracekit help | awk 'length > 80'
tracekit __docs formats | diff - <(awk '/^  [a-z]/ { print $1 }' rows)
