# A missing source is not reported as written.
tracekit extract --raw missing.pb -o out.pb
echo "status $?"; ls
