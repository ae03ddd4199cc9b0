tracekit 2> said
status=$?
tracekit help | cmp - said
exit $status
