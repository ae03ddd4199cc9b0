tracekit convert -f jsn a.json -o b.json 2> said
status=$?
names=$(tracekit __docs formats | paste -sd, | sed 's|,|, |g')
sed "s/(one of $names)/(one of all formats)/" said >&2
exit $status
