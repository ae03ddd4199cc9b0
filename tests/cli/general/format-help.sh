# Each format has a row with its title and its operations, and if it can be written, with its limitations, in lines of at most 80
# columns; all commands and the topic show the same rows. The overview lists the names.
tracekit convert -f help > rows
grep -vE '^  [a-z][a-z0-9-]* +[A-Za-z].* \((read|write|read, write); [._]|^ {16}[a-z]' rows
awk 'length > 80' rows
grep -oE '^  (json|xplane|perfetto) ' rows
grep -A 1 '^  perfetto' rows | tail -n 1 | cut -c 1-62
tracekit merge --format=help | cmp rows -
tracekit help formats | sed '1,/^$/d' | cmp rows -
for name in $(tracekit __docs formats); do
  tracekit help | sed -n '/^Formats:/,/^$/p' | grep -qw -- "$name" || echo "the overview does not list $name"
done
tracekit help | awk 'length > 80'
tracekit __docs formats | diff - <(awk '/^  [a-z]/ { print $1 }' rows)
