# The header of perf script states the host and when perf.data was written; its other lines are comments.
cat > a.perf.txt <<'T'
# ========
# captured on    : Mon Aug 30 11:15:28 2021
# header version : 1
# data offset    : 336
# hostname : node7
# os release : 5.10.40-amd64
# cmdline : /usr/bin/perf record -F 99 -g -- python train.py
# ========
#
python 3286/3290 [001]  6018.058609:     250000 cycles:u: 
	    7f2bac7ffca7 _dl_start+0xa7 (/lib64/ld-2.25.so)

T
tracekit info -v a.perf.txt
tracekit redact -q a.perf.txt -o redacted.json && grep -c node7 redacted.json
tracekit convert -q a.perf.txt -o a.pftrace && tracekit info --json a.pftrace | grep '"host": "'
sed -i 's/: node7/:/; s/: Mon.*/: "\x01/' a.perf.txt && tracekit info -q --json a.perf.txt | grep '"host": "' || echo none
