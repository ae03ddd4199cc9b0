# The table of formats has a row for each capability of a format, and a column for each format.
tracekit __docs format-table > table
bits=$(grep -cE '^  TK_HOLDS_[A-Z]+ = [0-9]+,' "$SRC/lib/tracekit_io.h")
rows=$(grep -c '^| supports ' table)
[ "$rows" -eq $((bits + 1)) ] || echo "$bits kinds in lib/tracekit_io.h, $rows rows besides spans"
columns=$(tracekit __docs formats | wc -l)
awk -F' \\| ' -v n="$columns" '/^\|/ && NF - 1 != n && !/^\|---/ { print NF - 1 " columns: " $0 }' table
grep -E '^\| supports (spans|flow points) ' table | cut -c 1-30
