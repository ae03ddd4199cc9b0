# Several files on a common base: the earliest event of all is at 0.
mkdir in out
for i in 1 2; do
  echo '{"baseTimeNanoseconds":1700000000000000000,"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":'$i'00,"dur":1}]}' > in/$i.json
done
tracekit rebase -q in/1.json in/2.json --to-zero -o out
grep -ho '"ts":[0-9]*' out/1.json out/2.json
tracekit rebase -q in/1.json in/1.json --to-zero -o out; echo "status $?"
tracekit rebase -q in/1.json in/2.json --to-zero -o nowhere; echo "status $?"
