# Numbers of events accept k for thousands; invalid numbers, expressions and targets are refused before anything is read.
for i in $(seq 2100); do printf '%s{"ph":"X","pid":1,"tid":1,"ts":%s,"dur":1,"name":"e"}' "${comma-[}" $((2 * i)); comma=,; done > t.json
echo ']' >> t.json
for n in 2k 2K 0.5K 2000; do
  tracekit shrink t.json --events $n --ladder spans -o out.json --json --force | grep -o '"target": *[0-9]*'
done
for n in 12.5 1.25e1%; do
  tracekit shrink t.json --percent $n --ladder spans -o out.json --json --force | grep -o '"target": *[0-9]*'
done
for n in 2KiB 2KB k 0 -3 1e3 2kk ''; do tracekit shrink missing.json --events "$n" -o no.json; echo "status $?"; done
tracekit shrink missing.json --events 5 --drop 'dur >' -o no.json; echo "status $?"
tracekit shrink missing.json --events 5 --keep 'nmae == x' --drop 'name' -o no.json; echo "status $?"
tracekit shrink missing.json -o no.json; echo "status $?"
tracekit shrink missing.json --lossless --percent 5 -o no.json; echo "status $?"
tracekit shrink missing.json --percent nan -o no.json; echo "status $?"
