mkdir empty
tracekit list empty; echo "status $?"
tracekit list nowhere; echo "status $?"
tracekit list --json nowhere > /dev/null; echo "status $?"
tracekit list "$FIXTURES/nasty/archive/only_dirs.zip" 2>&1 | sed "s|$FIXTURES/||"
echo hello > empty/README; tracekit list empty; echo "status $?"
