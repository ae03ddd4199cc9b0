. "$SRC/tests/support/rundirs.sh"
torch_handler log plain
tracekit list log
tracekit list --rank 1 log
