. "$SRC/tests/support/rundirs.sh"
torch_handler log plain
tracekit extract log
tracekit extract --all --split log -o out/
tracekit extract --rank 1 --run 2026_11_20_10_37_52 log -o rank1.json.gz
ls . out
tracekit info rank1.json.gz | grep -E 'events|rank'
