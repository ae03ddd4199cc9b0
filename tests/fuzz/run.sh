#!/usr/bin/env bash
# make fuzz [TIME=SECONDS | RUNS=N] [SEED=N] [T=WORD] - runs each target under libFuzzer, for a time or for a number of runs,
# one process per core. The default seed is the date, so that each day tries different inputs. With RUNS and SEED the runs of
# a program are reproducible.
#
# Starts from the kept inputs in corpus/<target>.base64, one per line, and from small fixtures. Learned inputs are stored in
# $B/corpus/<target> for the next run; failing inputs are stored in $B/found, and the run fails.
#
#     tests/fuzz/run.sh --minimise    stores a minimal set of inputs, each under 200 bytes, that cover what $B/corpus covers
set -u
export SEED=${SEED:-$(date +%Y%m%d)}
: "${B:?run me by make fuzz}" "${SRC:?}" "${FIXTURES:?}"
here=$SRC/tests/fuzz
kept=$here/corpus
mkdir -p "$B/found"

# Copies small fixtures, each after the header bytes that the target expects.
seeds() { # TARGET FOLDER
  local file i=0
  while IFS= read -r file; do
    i=$((i + 1))
    case $1 in
      fuzz_pipeline) { printf "\\x0$((i % 4))\\x0$((i % 8))\\x0$((i % 3))\\x$(printf %02x $((i * 37 % 256)))"; cat "$file"; } > "$2/seed$i" ;;
      fuzz_merge) { printf "\\x$(printf %02x $((i % 3 * 4)))\\x$(printf %02x $((i * 53 % 256)))\\x$(printf %02x $((i * 37 % 256)))"; cat "$file" "$file"; } > "$2/seed$i" ;;
      fuzz_redact) { printf "\\x$(printf %02x $((i * 7 % 32)))"; cat "$file"; } > "$2/seed$i" ;;
      fuzz_archive) "$here/packed.py" "$file" "$2/seed$i" ;;
      fuzz_analysis) { printf "\\x00\\x$(printf %02x $((i * 37 % 256)))\\x$(printf %02x $((i * 11 % 32)))"; cat "$file"; } > "$2/seed$i" ;;
      fuzz_cluster) { printf "\\x0$((i % 4))\\x0$((i % 4))"; cat "$file"; } > "$2/seed$i" ;;
      fuzz_options | fuzz_plan | fuzz_request | fuzz_scan | fuzz_sql) : ;;
      *) cp "$file" "$2/seed$i" ;;
    esac
  done < <(find "$FIXTURES" -type f -size -24k ! -name '*.tsv' ! -name '*.md' | sort)
}

unpack() { # FILE FOLDER
  python3 -c 'import base64, sys
for i, line in enumerate(open(sys.argv[1])):
    open(f"{sys.argv[2]}/kept{i}", "wb").write(base64.b64decode(line))' "$1" "$2"
}

pack() { # FOLDER FILE
  python3 -c 'import base64, os, sys
inputs = sorted((open(os.path.join(sys.argv[1], name), "rb").read() for name in os.listdir(sys.argv[1])), key=lambda b: (len(b), b))
open(sys.argv[2], "w").writelines(base64.b64encode(b).decode() + "\n" for b in inputs)' "$1" "$2"
}

one() {
  local name=$1 corpus=$B/corpus/$1 log=$B/$1.log
  mkdir -p "$corpus"
  [ -n "$(ls -A "$corpus")" ] || seeds "$name" "$corpus"
  unpack "$kept/$name.base64" "$corpus"
  local dictionary=() bound=(-max_total_time="$TIME")
  [ -z "${RUNS:-}" ] || bound=(-runs="$RUNS")
  [ ! -e "$here/$name.dict" ] || dictionary=(-dict="$here/$name.dict")
  if ASAN_OPTIONS=detect_leaks=1 "$B/tests/fuzz/$name" "${dictionary[@]}" "${bound[@]}" -seed="$SEED" -max_len=8192 -timeout=20 -rss_limit_mb=3000 \
      -artifact_prefix="$B/found/$name-" -print_final_stats=1 "$corpus" > "$log" 2>&1; then
    echo "ok   $name: $(grep -oE 'number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+') runs, $(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2) edges, $(find "$corpus" -type f | wc -l) inputs"
  else
    echo "FAIL $name: $(grep -oE 'number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+') runs"
    grep -vE '^#[0-9]+' "$log" | tail -n 40
  fi
}

minimise() {
  local name=$1 few=$B/few/$1 small=$B/small/$1
  rm -rf "$few" "$small" && mkdir -p "$few" "$small"
  find "$B/corpus/$name" -type f -size -200c -exec cp {} "$small" \;
  "$B/tests/fuzz/$name" -merge=1 "$few" "$small" > "$B/$name.merge" 2>&1
  pack "$few" "$kept/$name.base64"
  echo "$name: $(wc -l < "$kept/$name.base64") inputs"
}

names=$(cd "$here" && printf '%s\n' fuzz_*.c | sed 's/\.c$//' | grep -F -- "${T:-}")
case ${1:-} in
  --one) one "$2"; exit ;;
  --minimise) for name in $names; do minimise "$name"; done; exit ;;
esac
# shellcheck disable=SC2086
out=$(printf '%s\n' $names | xargs -P "${JOBS:-2}" -n 1 "$here/run.sh" --one)
printf '%s\n' "$out"
good=$(printf '%s\n' "$out" | grep -c '^ok ')
bad=$(printf '%s\n' "$out" | grep -c '^FAIL ')
runs=$(printf '%s\n' "$out" | sed -nE 's/^(ok|FAIL) .*: ([0-9]+) runs.*/\2/p' | awk '{ n += $1 } END { print n + 0 }')
echo "seed $SEED: $runs runs"
echo "$good passed, $bad failed"
[ "$bad" -eq 0 ]
