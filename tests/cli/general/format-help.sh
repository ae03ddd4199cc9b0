# Each format has a row with its title and what can be done with it; all commands and the overview show the same rows.
tracekit convert -f help > rows
grep -vE '^  [a-z]+ +[A-Z].* \((read|write|read, write)|^    ' rows
grep -oE '^  (json|xplane|perfetto) ' rows
tracekit merge --format=help | cmp rows -
tracekit help | sed -n '/^Formats:/,/^$/p' | sed '1d;$d' | cmp rows -
