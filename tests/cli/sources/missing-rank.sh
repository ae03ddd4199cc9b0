# An empty rank is different from a missing rank.
mkdir run
cp "$FIXTURES"/nasty/merge/same_pids/rank?.json run
: > run/rank2.json
tracekit merge run -o a.json; echo "status $?"
tracekit merge --keep-going run -o a.json > report; echo "status $?"
cut -c1-30 report
