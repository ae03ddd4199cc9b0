# The page is written to a separate file, which is replaced only with --force; - is standard output.
cp "$FIXTURES/perfetto/small.pftrace.gz" gpu.pftrace.gz
tracekit report -q gpu.pftrace.gz --html r.html && head -c 15 r.html && echo
tracekit report -q gpu.pftrace.gz --html r.html; echo "status $?"
tracekit report -q gpu.pftrace.gz --html r.html --force; echo "status $?"
tracekit report -q gpu.pftrace.gz --html gpu.pftrace.gz --force; echo "status $?"
tracekit report -q gpu.pftrace.gz --html none/r.html; echo "status $?"
tracekit report -q gpu.pftrace.gz --html - | cmp - r.html && echo same
tracekit report -q gpu.pftrace.gz --html s.html --json | head -n 2
tracekit report nothing.json; echo "status $?"
tracekit report gpu.pftrace.gz --step 99; echo "status $?"
tracekit report gpu.pftrace.gz -e 'dur >'; echo "status $?"
tracekit report gpu.pftrace.gz extra.json; echo "status $?"
tracekit report gpu.pftrace.gz extra.json --keep-going | head -n 1
tracekit report gpu.pftrace.gz --html t.html | sed 's/: .*//'
tracekit report gpu.pftrace.gz --html t.html --force --json | head -n 1
