#!/usr/bin/env bash
# Compares the command with expected output. A case is <command>/<case>.sh, with its expectations in the same folder:
#
#   <case>.stdout   standard output (no file: empty)        <case>.exit   exit status (no file: 0)
#   <case>.stderr   standard error (no file: empty)
#
# Of messages, only the values are compared (values.awk). Messages are all of standard error, and the lines of standard output
# that begin with "tracekit:" or report what was done. Their wording is in tests/words/messages.txt.
#
# bash runs each case in an empty directory with $TRACEKIT, $FIXTURES and `tracekit` on the PATH. GOLDEN=1 (make golden)
# writes the expectations. FOREIGN=1 is for a command of another processor: gzip sizes, and how far a damaged gzip file can
# be inflated, differ between ISA-L's implementations. T=WORD runs the cases with WORD in their name, such as
# cli/merge/two-ranks; --list prints those names. SET=check runs a selection: the general cases, and the first two of each
# command.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${TRACEKIT:=$here/../../build/tracekit}" "${FIXTURES:=$here/../../fixtures}" "${SRC:=$(cd "$here/../.." && pwd)}"
export TRACEKIT FIXTURES SRC LC_ALL=C.UTF-8 TERM=dumb
unset NO_COLOR

# Scripts in this folder run their own checks and print "n passed, n failed".
names() {
  (cd "$here/.." && printf '%s\n' cli/*/*.sh cli/*.sh) | sed 's/\.sh$//' | grep -vx cli/run | grep -F -- "${T:-}" | choose
}
choose() {
  if [ "${SET:-}" = check ]; then awk -F / '$2 == "general" || NF < 3 || ++n[$2] <= 2'; else cat; fi
}
if [ "${1:-}" = --list ]; then names; exit 0; fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$TRACEKIT" "$work/bin/tracekit"
for command in $("$TRACEKIT" __docs commands); do ln -s "$TRACEKIT" "$work/bin/tracekit-$command"; done
PATH=$work/bin:$PATH
passed=0 failed=0

comparable() { # FILE
  if [ -n "${FOREIGN:-}" ]; then
    sed -E 's/ *[0-9.]+ [KM]?B\b/ SIZE/g; s/damaged at byte [0-9]+ of the compressed file, after [0-9]+ bytes/damaged/' "$1"
  else
    cat "$1"
  fi
}

expect() { # CASE-STEM KIND ACTUAL
  case $2 in
    stderr) awk -f "$here/values.awk" -v all=1 "$3" > "$3.values" && mv "$3.values" "$3" ;;
    stdout) awk -f "$here/values.awk" "$3" > "$3.values" && mv "$3.values" "$3" ;;
  esac
  if [ -n "${GOLDEN:-}" ]; then
    if [ -s "$3" ] && ! { [ "$2" = exit ] && [ "$(cat "$3")" = 0 ]; }; then cp "$3" "$1.$2"; else rm -f "$1.$2"; fi
    return 0
  fi
  local expected=$1.$2
  if [ ! -e "$expected" ]; then
    expected=$work/empty
    if [ "$2" = exit ]; then echo 0; fi > "$expected"
  fi
  diff -u --label "$1.$2" --label actual <(comparable "$expected") <(comparable "$3")
}

run_case() { # FILE
  local stem=${1%.sh} dir=$work/case ok=0 kind
  rm -rf "$dir" && mkdir "$dir"
  (cd "$dir" && bash "$1" > "$work/stdout" 2> "$work/stderr" < /dev/null; echo $? > "$work/exit")
  for kind in stdout stderr exit; do expect "$stem" $kind "$work/$kind" || ok=1; done
  return $ok
}

run_script() { # FILE: runs it and adds its counts
  local out line good=0 bad=1
  out=$(bash "$1" 2>&1)
  line=$(printf '%s\n' "$out" | tail -n 1)
  case $line in *" passed, "*" failed") good=${line%% *} bad=${line#*, } bad=${bad%% *} ;; esac
  passed=$((passed + good)) failed=$((failed + bad))
  [ "$bad" -eq 0 ] || { echo "FAIL ${1#"$here"/}"; printf '%s\n' "$out"; }
}

for name in $(names); do
  file=$here/${name#cli/}.sh
  case $name in
    cli/*/*) if run_case "$file"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; fi ;;
    *) run_script "$file" ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
