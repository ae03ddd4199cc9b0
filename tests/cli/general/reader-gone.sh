set -o pipefail
tracekit help merge | true
case $? in 0 | 4) echo no signal, no message ;; *) echo "status $?" ;; esac
