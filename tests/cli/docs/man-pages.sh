# The pages are clean mdoc where a tool that can tell is at hand.
for c in "" $(tracekit __docs commands); do
  tracekit __docs man $c > page.1
  head -n 2 page.1 | tail -n 1
  if command -v mandoc > /dev/null; then mandoc -T lint -W warning page.1; fi
done
