# A signal during the conversion: no output file, not even a temporary one, and the exit status shows the signal.
mkfifo endless
event='{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1},'
for signal in INT TERM; do
  (printf '['; while printf '%s\n' "$event" 2> /dev/null; do :; done) > endless &
  env --default-signal=INT,TERM tracekit convert endless -o out.json &
  sleep 0.4
  kill -$signal $!
  wait $!
  echo "status $?"
  wait
  ls
done
