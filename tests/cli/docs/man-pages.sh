# Each page describes the requested command, and is clean mdoc if a tool to check it is installed.
for c in "" $(tracekit __docs commands); do
  tracekit __docs man $c > page.1
  title=TRACEKIT${c:+-$(echo $c | tr a-z A-Z)}
  sed -n 2p page.1 | grep -qx ".Dt $title 1" || echo "$c: the page is not titled $title"
  if command -v mandoc > /dev/null; then mandoc -T lint -W warning page.1; fi
done
sed -n '/^\.Sh COMMANDS/,/^\.El/s/^\.It Xr tracekit-\(.*\) 1$/\1/p' <(tracekit __docs man) | diff <(tracekit __docs commands) -
