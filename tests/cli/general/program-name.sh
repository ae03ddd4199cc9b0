# tracekit-merge is equivalent to tracekit merge.
tracekit-merge --help | cmp - <(tracekit help merge)
tracekit-convert -f help | cmp - <(tracekit convert -f help)
tracekit-merge --aling=none
