#!/usr/bin/env bash
# make test-wasm - tests the WebAssembly build, as the package for npm runs it in node, against a native build without ISA-L,
# whose gzip files have the same bytes.
#
#   tests/cli       the native build writes the expectations of all cases into a copy, and the package must meet them exactly
#   wasm.tsv        cases that cannot work in WebAssembly, and why. These cases run, too: if one passes, its row is an error
#   fixtures        both builds convert, filter, shrink and merge them; files and printed text must be equal
#   wasm.mjs        does the same in memory, with the package's run()
#
# T=WORD runs the cases with WORD in their name.
set -u
: "${B:?run me by make test-wasm}" "${SRC:?}" "${NATIVE:?}" "${PACKAGE:?}"
real=$SRC
work=$B/test-wasm
good=0 bad=0 absent=0
fail() { echo "FAIL $*"; bad=$((bad + 1)); }
pass() { good=$((good + 1)); }

if ! command -v node > /dev/null; then
  echo "SKIPPED: node is not installed, so nothing of WebAssembly was tested"
  echo "0 passed, 0 failed"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work/src"
ln -s "$real"/* "$work/src/"
rm "$work/src/tests"
cp -R "$real/tests" "$work/src/tests"

# ---- the command ----

cases() { # PROGRAM: runs the cases with the expectations of the copy
  SRC=$work/src TRACEKIT=$1 FIXTURES=$real/fixtures "$work/src/tests/cli/run.sh"
}
reason() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$real/tests/foreign/wasm.tsv"; }

GOLDEN=1 cases "$NATIVE" > "$work/native.log" 2>&1 || { tail -n 20 "$work/native.log"; echo "FAIL the native build"; exit 1; }
cases "$PACKAGE/bin/tracekit.js" > "$work/wasm.log" 2>&1
failing=$(sed -nE 's/^FAIL (cli\/.*)/\1/p; s/^FAIL \$ (.*)/mistake: \1/p; s/^example failed: (.*)/example: \1/p' "$work/wasm.log")
counts=$(tail -n 1 "$work/wasm.log")
good=${counts%% *} failed=${counts#*, } failed=${failed%% *}
[ "$(grep -c . <<< "$failing")" = "$failed" ] || fail "$failed cases fail, of which this script knows $(grep -c . <<< "$failing")"
while IFS= read -r name; do
  [ -n "$name" ] || continue
  why=$(reason "$name")
  if [ -n "$why" ]; then
    absent=$((absent + 1))
    echo "NOT THERE $name: $why"
  else
    fail "$name"
  fi
done <<< "$failing"
while IFS=$'\t' read -r name why; do
  case $name in *"${T:-}"*) ;; *) continue ;; esac
  [ -n "$why" ] || fail "wasm.tsv: $name has no reason"
  grep -qxF -- "$name" <<< "$failing" || fail "wasm.tsv: $name passes"
done < <(tail -n +2 "$real/tests/foreign/wasm.tsv")
[ "$bad" -eq 0 ] || cat "$work/wasm.log"

# ---- the bytes ----

same() { # ARGUMENT...: runs both commands with the output out.EXTENSION; compares status, output and file
  rm -rf "$work/a" "$work/b"
  mkdir "$work/a" "$work/b"
  (cd "$work/a" && "$NATIVE" "$@" > stdout 2> stderr; echo $? > status)
  (cd "$work/b" && "$PACKAGE/bin/tracekit.js" "$@" > stdout 2> stderr; echo $? > status)
  if diff -r "$work/a" "$work/b"; then pass; else fail "$*"; fi
}
cd "$real/fixtures" || exit 1
if [ -z "${T:-}" ]; then
  mapfile -t traces < <(find "$PWD/json" "$PWD/xplane" "$PWD/perfetto" "$PWD/nasty" "$PWD/nsys" -type f -size -100k \
    ! -name '*.tsv' ! -name '*.md' | sort)
  outputs=(out.json.gz out.pftrace.zst out.xplane.pb)
  for i in "${!traces[@]}"; do same convert "${traces[i]}" -o "${outputs[i % 3]}"; done
  for folder in "$PWD"/json/torch/ddp*; do
    ranks=("$folder"/*.json.gz)
    same merge "${ranks[@]}" -o out.json.gz
    same shrink "${ranks[0]}" --percent 20 -o out.json.gz
    same filter "${ranks[0]}" -e 'kind == op' -o out.pftrace
  done
  if node "$real/tests/foreign/wasm.mjs" "$PACKAGE/index.js" "$NATIVE" "$PWD/json/torch/ddp4_full"; then pass; else fail "run()"; fi
fi
echo "$absent cases cannot work in WebAssembly (tests/foreign/wasm.tsv)"
echo "$good passed, $bad failed"
[ "$bad" -eq 0 ]
