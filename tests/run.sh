#!/usr/bin/env bash
# Runs all tests, one process per core, and prints a summary; called by `make test` after building.
#
#   tests/unit/test_*       cmocka programs, one per module
#   tests/cli               the command against expected output
#   tests/property/*        programs and scripts
#   tests/fuzz/fuzz_*       over the fixtures and the kept corpus
#
# Test counts come from the output of a program: cmocka's "[  PASSED  ] n test(s)", or a last line "n passed, n failed";
# otherwise the program is one test, and its exit status is the result. The last line of this script is "N passed, N failed".
# LONG=1 is passed to the tests, which then do more. A program that takes longer than ten minutes (with LONG=1 an hour) has
# failed. GOLDEN=1 is passed on, too: tests then write their expectations instead of comparing. T=WORD runs only tests with
# WORD in their name; a case in tests/cli has its own name, such as cli/merge/two-ranks.
#
# SET=check|san|plain|locale|command runs a subset. tests/sets.tsv lists the programs that take long or belong to few sets, in
# the order in which they start, the longest with sanitizers first; a program without a row is in check and san only. REPLAY=0
# leaves out the fuzz targets, for a run that also calls `make fuzz`, which starts with the same inputs.
set -u
: "${B:?run me by make test}" "${TRACEKIT:?}" "${FIXTURES:?}" "${SRC:?}"
export B TRACEKIT FIXTURES SRC GEN=${GEN:-} LONG=${LONG:-} GOLDEN=${GOLDEN:-} CC=${CC:-cc} T=${T:-} SET=${SET:-}
# glibc fills allocated and freed memory with this byte, so that uninitialised memory differs from zero.
export MALLOC_PERTURB_=165
cd "$SRC" || exit 1
log=$B/test-log

all() {
  local p
  for p in "$SRC"/tests/unit/test_*.c; do [ -e "$p" ] && echo "unit/$(basename "$p" .c)"; done
  for p in "$SRC"/tests/property/*.c; do [ -e "$p" ] && echo "property/$(basename "$p" .c)"; done
  # Every script in the folder is a test; a script without the executable bit fails, so that it cannot be skipped unnoticed.
  for p in "$SRC"/tests/property/*.sh "$SRC"/tests/property/*.py; do [ -e "$p" ] && echo "property/$(basename "$p")"; done
  [ "${REPLAY:-}" != 0 ] || return 0
  for p in "$SRC"/tests/fuzz/fuzz_*.c; do [ -e "$p" ] && echo "fuzz/$(basename "$p" .c)"; done
}

# Reads names of programs from standard input; prints the programs of the set, the longest first.
select_set() {
  awk -F '\t' -v set="$SET" '
    NR == FNR && FNR == 1 { for (i = 1; i <= NF; i++) if ($i == set) column = i; next }
    NR == FNR { rank[$1] = FNR; within[$1] = column ? $column == "yes" : 1; next }
    { known = $0 in rank }
    known ? within[$0] : set == "" || set == "check" || set == "san" { print known ? rank[$0] : 1000, $0 }' \
    "$SRC/tests/sets.tsv" - | sort -s -n -k 1,1 | cut -d ' ' -f 2
}

list() {
  { all | grep -F -- "$T"; [ -z "$("$SRC/tests/cli/run.sh" --list)" ] || echo cli/run.sh; } | select_set
}

# Prints the make goals that the tests need: one per program; the command and the generator for all scripts.
wanted() {
  local name
  for name in $names; do
    case $name in
      *.sh | *.py) echo test-scripts ;;
      *) echo "${PROGRAMS:?}/$name" ;;
    esac
  done | sort -u
}

# True for a script in tests/property that takes at least six seconds without sanitizers.
is_long() { awk -F '\t' -v name="$1" '$1 == name && $1 ~ /^property.*\.(py|sh)$/ && $2 >= 6 { found = 1 } END { exit !found }' "$SRC/tests/sets.tsv"; }

# Runs one test program; its output and status go into the log. Called by xargs as `run.sh --one NAME`.
one() {
  local name=$1 out=$log/${1//\//.} start=$SECONDS most=600
  [ -z "$LONG" ] || most=3600
  # Long scripts start the command thousands of times; in SET=san, one process of four checks what tests/support/sampled_checks.c lists.
  [ "$SET" != san ] || ! is_long "$name" || export CHECK_EVERY=4
  case $name in
    *.sh | *.py) timeout -k 5 "$most" "$SRC/tests/$name" ;;
    fuzz/*) find "$FIXTURES" "$SRC/tests/fuzz/corpus/${name#fuzz/}.base64" -type f ! -name '*.tsv' ! -name '*.md' -print0 |
      xargs -0 timeout -k 5 "$most" "$B/tests/$name" ;;
    *) timeout -k 5 "$most" "$B/tests/$name" ;;
  esac > "$out.out" 2>&1 < /dev/null
  echo "$? $((SECONDS - start))" > "$out.status"
}

if [ "${1:-}" = --one ]; then one "$2"; exit 0; fi

names=$(list)
[ -n "$names" ] || { echo "no test has '$T' in its name" >&2; exit 1; }
if [ "${1:-}" = --wanted ]; then wanted; exit 0; fi

rm -rf "$log" && mkdir -p "$log"
# shellcheck disable=SC2086
printf '%s\n' $names | xargs -P "${JOBS:-2}" -n 1 "$SRC/tests/run.sh" --one

sum() { # PATTERN FILE: sum of the numbers that the pattern captures
  sed -nE "s/$1/\\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

passed=0 failed=0 failing=
for name in $names; do
  out=$log/${name//\//.}
  read -r status seconds < "$out.status"
  good=$(sum '^\[  PASSED  \] ([0-9]+) test.*' "$out.out")
  bad=$(sum '^ ([0-9]+) FAILED TEST\(S\).*' "$out.out")
  if line=$(tail -n 1 "$out.out" | grep -oE '[0-9]+ passed, [0-9]+ failed$'); then
    good=${line%% *} bad=${line#*, } bad=${bad%% *}
  fi
  # A program that crashed, or failed without a count, is one failure; a successful program without a count is one test.
  [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
  [ "$status" -eq 0 ] && [ "$good" -eq 0 ] && [ "$bad" -eq 0 ] && good=1
  passed=$((passed + good)) failed=$((failed + bad))
  printf '  %-4s %-36s %5s passed  %3ss\n' "$([ "$bad" -eq 0 ] && echo ok || echo FAIL)" "$name" "$good" "$seconds"
  [ "$bad" -eq 0 ] || { echo "---- $name: status $status"; tail -n 60 "$out.out"; echo "----"; failing="$failing $name"; }
done
[ -z "$failing" ] || echo "failing:$failing"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
