# A signal while a later rank is read: ranks that have already been written leave no file behind.
cp "$FIXTURES"/nasty/merge/same_pids/rank0.json .
mkfifo endless
(printf '['; while printf '%s\n' '{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1},' 2> /dev/null; do :; done) > endless &
env --default-signal=INT tracekit merge rank0.json endless -o out.json &
sleep 0.4
kill -INT $!
wait $!
echo "status $?"
wait
ls
