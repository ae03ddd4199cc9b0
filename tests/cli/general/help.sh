tracekit help
tracekit --help | cmp - <(tracekit help) && tracekit -h | cmp - <(tracekit help)
