tracekit convert -f jsn a.json -o b.json 2> said
status=$?
names=$(tracekit convert -f help | awk '{ printf "%s%s", separator, $1; separator = ", " }')
sed "s/(one of $names)/(one of all formats)/" said >&2
exit $status
