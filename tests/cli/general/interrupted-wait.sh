# One signal ends a command that waits for a pipe that nobody has opened, or for data from a silent pipe.
mkfifo unopened silent
sleep 30 > silent &
writer=$!
for input in unopened silent "-j 2 silent"; do
  env --default-signal=INT,TERM tracekit convert $input -o out.json 2>&1 &
  command=$!
  (sleep 20; kill -KILL $command) 2> /dev/null &
  guard=$!
  sleep 0.4
  kill -TERM $command
  wait $command
  echo "status $?"
  kill $guard
done
kill $writer
rm unopened silent
ls
