# A program that fails is an error with its status and last line, never a trace that ends early; an interrupt ends the program.
. "$SRC/tests/support/helpers.sh"
trace=$FIXTURES/json/torch/ddp2_plain/rank0.json.gz
export trace
helper aws <<'SH'
[ "$2" = ls ] && { echo "2026-11-20 10:41:58 10 run/rank0.json"; [ -z "$LISTS" ] && exit 0; echo 'cannot list: access denied' >&2; exit 254; }
case $4 in
  *.gz) head -c 40000 "$trace" ;;
  *.zip) head -c 40000 "$STORE/logs.zip" ;;
  *) gunzip -c "$trace" | head -c "${BYTES:-300000}" ;;
esac
printf 'first line\nthe key \033[31mvanished\n\n' >&2
case $HOW in signal) kill -KILL $$ ;; esac
exit 1
SH
python3 -m zipfile -c store/logs.zip "$trace"
for name in rank0.json rank0.json.gz logs.zip; do tracekit info s3://bucket/$name; echo "status $?"; done
BYTES=0 tracekit info s3://bucket/rank0.json; echo "status $?"
HOW=signal tracekit convert s3://bucket/rank0.json -o out.json; echo "status $?"
cp "$trace" .
tracekit merge -k rank0.json.gz s3://bucket/rank1.json -o kept.json | cut -c1-33; echo "status $?"
tracekit merge s3://bucket/run/ "$trace" -o out.json; echo "status $?"
LISTS=no tracekit list s3://bucket/run/; echo "status $?"
tracekit list --deep s3://bucket/rank0.json; echo "status $?"
# The whole document arrived, but the program failed: still an error.
BYTES=100000000 tracekit info s3://bucket/rank0.json; echo "status $?"
ls *.json
# A signal ends a program that hangs before or within the data, and the child process that it has started.
helper aws <<'SH'
[ -z "$FIRST" ] || gunzip -c "$trace" | head -c 300000
sleep 1000 & echo $! > hung; wait
SH
for signal in INT TERM; do
  for first in '' yes; do
    FIRST=$first env --default-signal=INT,TERM tracekit convert s3://bucket/rank0.json -o out.json &
    for ((i = 0; i < 100; i++)); do [ -s hung ] && break; sleep 0.05; done
    sleep 0.2; kill -$signal $!; wait $!; echo "status $?"
    for ((i = 0; i < 60; i++)); do kill -0 "$(cat hung)" 2> /dev/null || break; sleep 0.05; done
    kill -0 "$(cat hung)" 2> /dev/null && echo 'still running'
    rm -f hung
  done
done
[ ! -e out.json ]
