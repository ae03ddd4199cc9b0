# A folder that contains one folder per node or rank is one run.
mkdir -p run/node0 run/node1
cp "$FIXTURES"/nasty/merge/same_pids/rank0.json run/node0/trace.json
cp "$FIXTURES"/nasty/merge/same_pids/rank1.json run/node1/trace.json
touch -d 2026-01-01 run/*/*
tracekit list run
tracekit merge run -o a.json
mkdir -p ranks/rank0 ranks/rank1
cp "$FIXTURES"/nasty/merge/no_rank_info/worker1.pt.trace.json ranks/rank1/trace.json
cp "$FIXTURES"/nasty/merge/no_rank_info/worker0.pt.trace.json ranks/rank0/trace.json
tracekit merge ranks -o b.json
