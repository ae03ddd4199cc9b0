tracekit help merge
tracekit merge --help | cmp - <(tracekit help merge) && tracekit merge -h | cmp - <(tracekit help merge)
