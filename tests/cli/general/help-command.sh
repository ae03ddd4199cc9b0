tracekit help merge
tracekit merge --help | cmp - <(tracekit help merge)
tracekit merge -h
tracekit dump -h | tail -n 1
# No short help is longer than a screen.
for c in $(tracekit __docs commands); do [ "$(tracekit "$c" -h | wc -l)" -le 48 ] || echo "$c: $(tracekit "$c" -h | wc -l) lines"; done
tracekit help mrege
