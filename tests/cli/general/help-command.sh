# Full and short help of a command; the text is in tests/words/help.txt.
tracekit help merge > long
tracekit merge --help | cmp - long
tracekit merge -h > short
head -n 1 short | cmp - <(head -n 1 long)
tail -n 1 short
# Short help fits on one screen.
for c in $(tracekit __docs commands); do [ "$(tracekit "$c" -h | wc -l)" -le 48 ] || echo "$c: $(tracekit "$c" -h | wc -l) lines"; done
tracekit help mrege
